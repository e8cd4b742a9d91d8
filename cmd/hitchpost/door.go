package main

import (
	"context"
	"log/slog"

	"golang.org/x/crypto/ssh"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/menu"
	"github.com/hitchpost/hitchpost/runtime"
	"github.com/hitchpost/hitchpost/sshd"
	"github.com/hitchpost/hitchpost/sshd/command"
)

// newDoor makes the front door to a service.
func newDoor(service *runtime.Service, signers []ssh.Signer, detach sshd.DetachKey, log *slog.Logger) (*sshd.Server, error) {
	return sshd.New(sshd.Config{
		Signers: signers, Version: version, Log: log, DetachKey: detach,
		Login: func(_ context.Context, key ssh.PublicKey, user, remote string) (hitchpost.Actor, hitchpost.Key, error) {
			return service.Login(ssh.FingerprintSHA256(key), user, remote)
		},
		Entered: service.NoteLogin, Refused: service.NoteRefusal,
		Service: attaching{service},
		Pick: func(ctx context.Context, c menu.Config) (menu.Choice, error) {
			c.Service, c.Home = service, service.Account.Home
			return menu.Run(ctx, c)
		},
		Command: func(ctx context.Context, inv command.Invocation) int {
			inv.Service = service
			return command.Run(ctx, inv)
		},
	})
}

// attaching gives the front door its own word for a view.
type attaching struct{ *runtime.Service }

func (a attaching) Attach(ctx context.Context, by hitchpost.Actor, r hitchpost.AttachRequest) (sshd.View, error) {
	v, err := a.Service.Attach(ctx, by, r)
	if err != nil {
		return nil, err // not v: a nil *View is no nil View
	}
	return v, nil
}

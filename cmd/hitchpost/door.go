package main

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/menu"
	"github.com/hitchpost/hitchpost/runtime"
	"github.com/hitchpost/hitchpost/sshd"
	"github.com/hitchpost/hitchpost/sshd/command"
)

// newDoor joins the front door to the service, the menu and command mode, which do not know each other.
func newDoor(service *runtime.Service, signers []ssh.Signer, detach sshd.DetachKey, log *slog.Logger) (*sshd.Server, error) {
	return sshd.New(sshd.Config{
		Signers: signers, Version: "Hitchpost", Log: log, DetachKey: detach,
		Login: func(_ context.Context, key ssh.PublicKey, user, remote string) (hitchpost.Actor, hitchpost.Key, error) {
			return service.Login(ssh.FingerprintSHA256(key), user, remote)
		},
		Entered:  service.NoteLogin,
		Service:  attaching{service},
		Picker:   picker{service},
		Commands: commands{service},
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

// picker shows the menu.
type picker struct{ service *runtime.Service }

func (p picker) Pick(ctx context.Context, r sshd.PickRequest) (sshd.Choice, error) {
	chosen, err := menu.Run(ctx, menu.Config{
		Actor: r.Actor, Service: p.service, In: r.In, Out: r.Out, Terminal: r.Terminal, Sizes: r.Sizes,
		Environ: r.Env, Selected: r.Preselect, Notice: r.Notice, Background: p.service.Background,
	})
	return sshd.Choice{Session: chosen.Attach, ReadOnly: chosen.ReadOnly}, err
}

// commands is command mode.
type commands struct{ service *runtime.Service }

func (c commands) Verb(word string) bool { return slices.Contains(command.Verbs(), word) }

func (c commands) Run(ctx context.Context, call sshd.Call) int {
	return command.Run(ctx, command.Invocation{
		Words: call.Words, Actor: call.Actor, Service: c.service, Stdin: call.Stdin, Stdout: call.Stdout,
		Stderr: call.Stderr, Terminal: call.Terminal, Version: version, ParseKey: sshd.ParseKey, Attach: call.Attach,
		Now: time.Now,
	})
}

package sshd

import (
	"context"
	"log/slog"
	"slices"

	"github.com/hitchpost/hitchpost/menu"
	"github.com/hitchpost/hitchpost/sshd/command"
)

// Menu is the Picker that people see.
func Menu(service menu.Service, log *slog.Logger) Picker { return menuPicker{service, log} }

type menuPicker struct {
	service menu.Service
	log     *slog.Logger
}

func (m menuPicker) Pick(ctx context.Context, r PickRequest) (Choice, error) {
	c, err := menu.Run(ctx, menu.Config{
		Actor: r.Actor, Service: m.service, In: r.In, Out: r.Out, Terminal: r.Terminal, Sizes: r.Sizes, Environ: r.Env,
		Selected: r.Preselect, Notice: r.Notice, Background: r.Background, Log: m.log,
	})
	return Choice{Session: c.Attach, ReadOnly: c.ReadOnly}, err
}

// CommandMode is the Commands of the command contract.
func CommandMode(service command.Service) Commands {
	return commandMode{service, command.Verbs()}
}

type commandMode struct {
	service command.Service
	verbs   []string
}

func (c commandMode) Verb(word string) bool { return slices.Contains(c.verbs, word) }

func (c commandMode) Run(ctx context.Context, call Call) int {
	return command.Run(ctx, command.Invocation{
		Words: call.Words, Actor: call.Actor, Service: c.service, Version: call.Version, Terminal: call.Terminal,
		Stdin: call.Stdin, Stdout: call.Stdout, Stderr: call.Stderr, Attach: call.Attach, ParseKey: ParseKey,
	})
}

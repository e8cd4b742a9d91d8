package sshd

import (
	"context"
	"log/slog"
	"slices"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/menu"
	"github.com/hitchpost/hitchpost/sshd/command"
)

// ServiceOf makes a Service of a service whose Attach returns its own type of view.
func ServiceOf[V View](s interface {
	Attach(context.Context, hitchpost.Actor, hitchpost.AttachRequest) (V, error)
	Restart(context.Context, hitchpost.Actor, string, hitchpost.RestartRequest) (hitchpost.StartResult, error)
	Snapshot() ([]hitchpost.Session, hitchpost.Status)
	Last(context.Context, hitchpost.Actor) string
}) Service {
	return serviceOf{s, func(ctx context.Context, by hitchpost.Actor, r hitchpost.AttachRequest) (View, error) {
		v, err := s.Attach(ctx, by, r)
		if err != nil {
			return nil, err
		}
		return v, nil
	}}
}

type serviceOf struct {
	rest interface {
		Restart(context.Context, hitchpost.Actor, string, hitchpost.RestartRequest) (hitchpost.StartResult, error)
		Snapshot() ([]hitchpost.Session, hitchpost.Status)
		Last(context.Context, hitchpost.Actor) string
	}
	attach func(context.Context, hitchpost.Actor, hitchpost.AttachRequest) (View, error)
}

func (s serviceOf) Attach(ctx context.Context, by hitchpost.Actor, r hitchpost.AttachRequest) (View, error) {
	return s.attach(ctx, by, r)
}

func (s serviceOf) Restart(ctx context.Context, by hitchpost.Actor, ref string, r hitchpost.RestartRequest) (
	hitchpost.StartResult, error) {
	return s.rest.Restart(ctx, by, ref, r)
}

func (s serviceOf) Snapshot() ([]hitchpost.Session, hitchpost.Status) { return s.rest.Snapshot() }

func (s serviceOf) Last(ctx context.Context, by hitchpost.Actor) string { return s.rest.Last(ctx, by) }

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

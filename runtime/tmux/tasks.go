package tmux

import (
	"context"

	"github.com/hitchpost/hitchpost"
)

// StartTask has tmux run a task's command, and starts the server if none runs. Nothing of the task is left in tmux when
// the command has ended. ConflictError when a task with this id is there.
func (s *Server) StartTask(ctx context.Context, id string, argv []string) error {
	at := exactly(taskPrefix, id)
	if at == "" || len(argv) == 0 {
		return hitchpost.Errorf(hitchpost.UsageError, "no task id or no command")
	}
	if err := checkWords(argv); err != nil {
		return err
	}
	create := command{"new-session", "-d", "-s", taskPrefix + id, "-e", noColor, "-c", "/", "-x", "80", "-y", "24", "--"}
	_, err := s.create(ctx, at,
		append(create, words(argv)...),
		// In the same turn of tmux, which sees the end of a process only after it.
		command{"set-option", "-w", "-t", at, "remain-on-exit", "off"},
	)
	return told("start a task", err)
}

// KillTask ends a task's process in tmux (SIGHUP). It is nil when tmux does not run it.
func (s *Server) KillTask(ctx context.Context, id string) error {
	at := exactly(taskPrefix, id)
	return s.kill(ctx, at, command{"kill-session", "-t", at})
}

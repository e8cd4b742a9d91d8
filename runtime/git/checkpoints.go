package git

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hitchpost/hitchpost"
)

// listBytes bounds a list of checkpoints: some 20,000.
const listBytes = 16 << 20

// Checkpoints lists a session's, oldest first. The error is a *hitchpost.Error.
func (t *Tree) Checkpoints(ctx context.Context, session string) ([]Checkpoint, error) {
	if !sessionName(session) {
		return nil, hitchpost.Errorf(hitchpost.UsageError, "%q is no id of a session", session)
	}
	list, err := t.checkpoints(ctx, session)
	if err != nil {
		return nil, t.worded("list checkpoints", err)
	}
	return list, nil
}

func (t *Tree) checkpoints(ctx context.Context, session string) ([]Checkpoint, error) {
	list, _, err := t.hidden(ctx, refs+session+"/")
	return list, err
}

// hidden lists the checkpoints whose references begin with prefix, by session and number, and the references there that
// lead to no commit. What else lies there is passed over.
func (t *Tree) hidden(ctx context.Context, prefix string) (list []Checkpoint, broken []Checkpoint, err error) {
	out, err := t.run(ctx, call{keep: listBytes}, "for-each-ref", "--format=%(objectname) %(refname)", prefix)
	if err != nil {
		return nil, nil, err
	}
	var hashes strings.Builder
	for line := range strings.Lines(out.text) {
		hash, ref, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		session, number, _ := strings.Cut(strings.TrimPrefix(ref, refs), "/")
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || strconv.Itoa(n) != number || !sessionName(session) {
			continue
		}
		list = append(list, Checkpoint{Session: session, N: n, Commit: hash})
		hashes.WriteString(hash + "\n")
	}
	if out.cut {
		return nil, nil, &reasoned{TooMuch, "more checkpoints than can be listed"}
	}
	if len(list) == 0 {
		return nil, nil, nil
	}
	out, err = t.run(ctx, call{keep: listBytes, stdin: strings.NewReader(hashes.String())}, "cat-file", "--batch")
	if err != nil {
		return nil, nil, err
	}
	if list, broken, err = readBatch(out.text, list); err != nil {
		return nil, nil, err
	}
	slices.SortFunc(list, func(a, b Checkpoint) int {
		if a.Session != b.Session {
			return strings.Compare(a.Session, b.Session)
		}
		return a.N - b.N
	})
	return list, broken, nil
}

// readBatch fills in a list from the answers of git-cat-file(1), which come in its order.
func readBatch(text string, list []Checkpoint) (whole, broken []Checkpoint, err error) {
	in := bufio.NewReader(strings.NewReader(text))
	for _, c := range list {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, nil, &reasoned{TooMuch, "more checkpoints than can be listed"}
		}
		fields := strings.Fields(line) // hash kind size, or hash missing
		if len(fields) != 3 {
			broken = append(broken, c)
			continue
		}
		size, err := strconv.Atoi(fields[2])
		if err != nil || size < 0 || size > len(text) {
			return nil, nil, &reasoned{TooMuch, "a checkpoint that is none"}
		}
		body := make([]byte, size+1) // and a line's end
		if _, err := io.ReadFull(in, body); err != nil {
			return nil, nil, &reasoned{TooMuch, "more checkpoints than can be listed"}
		}
		if fields[1] != "commit" {
			broken = append(broken, c)
			continue
		}
		whole = append(whole, c.read(string(body[:size])))
	}
	return whole, broken, nil
}

// read fills in what a commit says.
func (c Checkpoint) read(commit string) Checkpoint {
	header, message, _ := strings.Cut(commit, "\n\n")
	for line := range strings.Lines(header) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "tree":
			c.Tree = value
		case "parent":
			c.Head = value
		case "committer":
			if fields := strings.Fields(value[strings.LastIndexByte(value, '>')+1:]); len(fields) > 0 {
				seconds, _ := strconv.ParseInt(fields[0], 10, 64)
				c.At = time.Unix(seconds, 0).UTC()
			}
		}
	}
	rest := strings.TrimSuffix(message, "\n")
	rest, c.LeftOut = cutNumber(rest, leftOutKey)
	rest, c.Files = cutNumber(rest, filesKey)
	rest = strings.TrimSpace(rest)
	c.Message = rest[:min(len(rest), messageLimit)]
	return c
}

// cutNumber takes the number after key off the end of a message.
func cutNumber(message, key string) (rest string, n int) {
	i := strings.LastIndex(message, key)
	if i < 0 {
		return message, 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(message[i+len(key):]))
	if err != nil {
		return message, 0
	}
	return strings.TrimSuffix(message[:i], "\n"), n
}

// Keep says which checkpoints stay. Zero values stand for what the fields say.
type Keep struct {
	Count int           // newest of a session, 50
	For   time.Duration // 30 days
	Now   time.Time     // now
}

// Prune takes away the checkpoints of every session of the repository that need not be kept, and references of that
// kind that lead to nothing. It returns how many went. The error is a *hitchpost.Error.
func (t *Tree) Prune(ctx context.Context, k Keep) (int, error) {
	if k.Count <= 0 {
		k.Count = 50
	}
	if k.For <= 0 {
		k.For = 30 * 24 * time.Hour
	}
	if k.Now.IsZero() {
		k.Now = time.Now()
	}
	list, gone, err := t.hidden(ctx, refs)
	if err != nil {
		return 0, t.worded("prune checkpoints", err)
	}
	newer := 0 // of the session, seen from the newest
	for i := len(list) - 1; i >= 0; i-- {
		if i == len(list)-1 || list[i].Session != list[i+1].Session {
			newer = 0
		}
		if newer >= k.Count || k.Now.Sub(list[i].At) > k.For {
			gone = append(gone, list[i])
		}
		newer++
	}
	if len(gone) == 0 {
		return 0, nil
	}
	var in strings.Builder
	for _, c := range gone {
		in.WriteString("delete " + c.ref() + "\x00" + c.Commit + "\x00")
	}
	if _, err := t.run(ctx, call{off: durably(), limit: makeLimit, stdin: strings.NewReader(in.String())},
		"update-ref", "--stdin", "-z"); err != nil {
		return 0, t.worded("prune checkpoints", err)
	}
	return len(gone), nil
}

// Restore makes a branch of a session's checkpoint n. Files, index and HEAD stay as they are: git switch goes there when
// the person wants to. A branch that there is already is refused, never moved. The error is a *hitchpost.Error.
func (t *Tree) Restore(ctx context.Context, session string, n int, branch string) (Checkpoint, error) {
	list, err := t.Checkpoints(ctx, session)
	if err != nil {
		return Checkpoint{}, err
	}
	i := slices.IndexFunc(list, func(c Checkpoint) bool { return c.N == n })
	if i < 0 {
		return Checkpoint{}, hitchpost.Errorf(hitchpost.NotFoundError, "there is no checkpoint %d", n).
			Hinted("list the session's checkpoints")
	}
	if err := t.branchName(ctx, branch); err != nil {
		return Checkpoint{}, err
	}
	_, err = t.run(ctx, call{off: durably()}, "update-ref", "refs/heads/"+branch, list[i].Commit, "")
	switch {
	case err == nil:
		return list[i], nil
	case taken(err) || strings.Contains(unknown(err).Detail, "cannot create"): // a/b beside a
		return Checkpoint{}, hitchpost.Errorf(hitchpost.ConflictError, "there is a branch in the way of %q: %w", branch, err).
			Hinted("name another branch")
	default:
		return Checkpoint{}, t.worded("restore a checkpoint", err)
	}
}

// branchName refuses what cannot be the name of a branch.
func (t *Tree) branchName(ctx context.Context, branch string) error {
	bad := branch == "" || branch == "HEAD" || strings.HasPrefix(branch, "-") || strings.Contains(branch, "\x00") ||
		len(branch) > 200
	if !bad {
		_, err := t.text(ctx, "check-ref-format", "refs/heads/"+branch)
		if err == nil {
			return nil
		}
		var c *callError
		if !errors.As(err, &c) || c.exit < 1 {
			return t.worded("check the name of a branch", err)
		}
	}
	return hitchpost.Errorf(hitchpost.UsageError, "%q cannot be the name of a branch", branch).
		Hinted("use letters, digits, - and /")
}

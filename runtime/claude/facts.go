package claude

import (
	"context"
	"io"
	"strings"
)

// headBytes and tailBytes are how much of a long transcript's beginning and end is read for its facts: titles that a
// person or Claude Code gave stand at the end again and again, the first prompt only at the beginning.
const (
	headBytes = 128 << 10
	tailBytes = 1<<20 - headBytes
)

// Facts are what a transcript tells of its conversation. Its texts are one line each, cut, and fit to be shown; empty
// where the part that is read does not tell.
type Facts struct {
	Title      string // that a person gave, else that Claude Code made, else the first prompt
	LastPrompt string
	LastAnswer string
	// Context is how many tokens the conversation takes up now, the last answer included.
	Context int64
}

// ReadFacts reads the facts of a conversation from the beginning and the end of its transcript, at most 1 MiB together
// however long it is. Lines that are no JSON, or not known here, are passed over, and so is one that is still being
// written. It fails with the cause of ctx when that ends.
func ReadFacts(ctx context.Context, path string) (Facts, error) {
	f, about, err := openRegular(path)
	if err != nil {
		return Facts{}, err
	}
	defer func() { _ = f.Close() }() // only read
	parts := []*io.SectionReader{io.NewSectionReader(f, 0, about.Size())}
	if about.Size() > headBytes+tailBytes {
		// What is left of a line that the cut goes through is no JSON: a closing brace is too many.
		parts = []*io.SectionReader{
			io.NewSectionReader(f, 0, headBytes), io.NewSectionReader(f, about.Size()-tailBytes, tailBytes),
		}
	}
	var g gathered
	for _, part := range parts {
		if _, err := eachLine(ctx, part, g.take); err != nil {
			return Facts{}, err
		}
	}
	return g.facts(), nil
}

// gathered is what the lines of a transcript told so far.
type gathered struct {
	given, made, first string // titles, the best first
	prompt             string // the last one: Claude Code notes it again now and then, at times the one before the newest
	answer             string
	context            int64
}

func (g *gathered) take(line []byte) bool {
	l, ok := parseLine(line)
	if !ok {
		return true
	}
	switch l.Type {
	case "custom-title":
		g.given = OneText(l.CustomTitle)
	case "ai-title":
		g.made = OneText(l.AITitle)
	case "last-prompt":
		g.prompt = OneText(l.LastPrompt)
	case "user":
		if prompt := l.prompt(); prompt != "" {
			g.prompt = OneText(prompt)
			if g.first == "" {
				g.first = g.prompt
			}
		}
	case "assistant":
		if l.Sidechain {
			break
		}
		if answer := strings.TrimSpace(l.Message.Content.text()); answer != "" {
			g.answer = OneText(answer)
		}
		if sum := l.Message.Usage.in() + l.Message.Usage.out(); sum > 0 { // of what Claude Code says itself it is 0
			g.context = sum
		}
	case "system":
		if l.Subtype == "compact_boundary" && l.Compact.PostTokens > 0 {
			g.context = tokens(l.Compact.PostTokens)
		}
	}
	return true
}

func (g *gathered) facts() Facts {
	f := Facts{Title: g.given, LastPrompt: g.prompt, LastAnswer: g.answer, Context: g.context}
	if f.Title == "" {
		f.Title = g.made
	}
	if f.Title == "" {
		f.Title = g.first
	}
	return f
}

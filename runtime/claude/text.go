package claude

import (
	"strings"
	"unicode/utf8"

	"github.com/hitchpost/hitchpost"
)

// textBytes bounds the texts of an agent that are kept: titles, prompts, answers, questions.
const textBytes = hitchpost.MaxAgentText

// OneText makes a text that somebody else wrote one line of at most 500 bytes that is fit for a terminal. White space of
// any length is one blank.
func OneText(s string) string { return cut(clean(s), textBytes) }

// clean makes one line of s. Of a very long text only the beginning is looked at: the rest would be cut off anyway.
func clean(s string) string {
	const enough = 8 * textBytes
	if len(s) > enough {
		s = s[:enough]
	}
	return hitchpost.OneLine(strings.Join(strings.Fields(s), " "))
}

// cut is s, or the beginning of it in whole characters and an ellipsis, in at most limit bytes.
func cut(s string, limit int) string {
	const ellipsis = "…"
	if len(s) <= limit {
		return s
	}
	end := limit - len(ellipsis)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + ellipsis
}

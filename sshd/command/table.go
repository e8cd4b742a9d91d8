package command

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"

	"github.com/hitchpost/hitchpost"
)

// table lays cells out in columns by the width they take on a terminal. Cells are cleaned. It is for people: LF line
// ends, no colour, no trailing blanks. A limit above 0 cuts lines to so many cells.
func table(rows [][]string, limit int) []byte {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			row[i] = hitchpost.OneLine(cell)
			widths[i] = max(widths[i], width(row[i]))
		}
	}
	var out bytes.Buffer
	var line strings.Builder
	for _, row := range rows {
		line.Reset()
		for i, cell := range row {
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-width(cell)+2))
			}
		}
		text := strings.TrimRight(line.String(), " ")
		if limit > 0 {
			text = fit(text, limit)
		}
		out.WriteString(text + "\n")
	}
	return out.Bytes()
}

// width is the number of cells that text takes.
func width(text string) int { return displaywidth.String(text) }

// fit cuts text to so many cells.
func fit(text string, cells int) string {
	return displaywidth.TruncateString(text, max(cells, 1), "…")
}

// columns is the limit for tables: the width of the client's terminal, 0 without one.
func (c *call) columns() int {
	if c.Terminal == nil {
		return 0
	}
	return c.Terminal.Size.Clamp().Cols
}

// age is how long ago at was, in one unit, for people; "-" where it never was. A clock that was set back makes no
// negative ages.
func (c *call) age(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	switch d := max(c.Now().Sub(at), 0); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	default:
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	}
}

// when is a moment and its age, for people; "-" where it never was.
func (c *call) when(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return at.UTC().Format("2006-01-02 15:04:05Z") + " (" + c.age(at) + " ago)"
}

// or is text, or a dash where there is none.
func or(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

package preset

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"

	shellquote "github.com/kballard/go-shellquote"
)

// placeholder is what stands for a value in the words and the environment of a preset.
func placeholder() *regexp.Regexp { return regexp.MustCompile(`\$\{[^}]*\}?`) }

// placeholders are those that there are.
func placeholders() []string {
	return []string{"${hook.json}", "${hook.shell}", "${session}", "${folder}", "${folder.url}", "${conversation}"}
}

// fill puts values in the place of placeholders. Values are not looked through again.
func (p Preset) fill(v Values, words []string) []string {
	hook := append(v.Hook[:len(v.Hook):len(v.Hook)], "--preset", p.Name)
	filled := make([]string, 0, len(words))
	for _, word := range words {
		filled = append(filled, placeholder().ReplaceAllStringFunc(word, func(name string) string {
			switch name {
			case "${hook.json}":
				raw, _ := json.Marshal(hook) // strings can be encoded
				return string(raw)
			case "${hook.shell}":
				return shellquote.Join(hook...)
			case "${session}":
				return v.Session
			case "${folder}":
				return v.Folder
			case "${folder.url}":
				return (&url.URL{Path: v.Folder}).EscapedPath()
			case "${conversation}":
				return v.Conversation
			}
			return name // refused when it was loaded
		}))
	}
	return filled
}

// checkFilled refuses placeholders that nothing stands for.
func checkFilled(field string, words ...string) error {
	for _, word := range words {
		for _, name := range placeholder().FindAllString(word, -1) {
			known := false
			for _, p := range placeholders() {
				known = known || p == name
			}
			if !known {
				return fmt.Errorf("%s: no placeholder %q", field, name)
			}
		}
	}
	return nil
}

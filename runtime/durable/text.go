package durable

import (
	"encoding/json"
	"unicode/utf8"
)

// Text is a string of any bytes that keeps each of them in JSON: words, names and paths are not always UTF-8, and JSON
// strings are.
type Text string

// MarshalJSON writes a string, or {"base64":…} where a string would not do.
func (t Text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	return json.Marshal(struct {
		Base64 []byte `json:"base64"`
	}{[]byte(t)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Text) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		var v struct {
			Base64 []byte `json:"base64"`
		}
		err := json.Unmarshal(data, &v)
		*t = Text(v.Base64)
		return err
	}
	return json.Unmarshal(data, (*string)(t))
}

// Texts is words as they stand in JSON.
func Texts(words []string) []Text {
	out := make([]Text, len(words))
	for i, w := range words {
		out[i] = Text(w)
	}
	return out
}

// Words is what Texts was made from.
func Words(texts []Text) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = string(t)
	}
	return out
}

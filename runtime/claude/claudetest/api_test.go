package claudetest_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/hitchpost/hitchpost/runtime/claude/claudetest"
)

// asked posts a conversation and returns the status, the text of the answer and the events it came in.
func asked(t *testing.T, url string, messages ...string) (int, string, []string) {
	t.Helper()
	body := fmt.Sprintf(`{"model":"m","messages":[%s]}`, strings.Join(messages, ","))
	res, err := http.Post(url+"/v1/messages?beta=true", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var text bytes.Buffer
	var events []string
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			events = append(events, name)
		}
		var event struct {
			Delta struct {
				Text    string `json:"text"`
				Partial string `json:"partial_json"`
			} `json:"delta"`
		}
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && json.Unmarshal([]byte(data), &event) == nil {
			text.WriteString(event.Delta.Text + event.Delta.Partial)
		}
	}
	return res.StatusCode, text.String(), events
}

func said(role, text string) string {
	doc, _ := json.Marshal(map[string]string{"role": role, "content": text})
	return string(doc)
}

func TestAPIAnswersByThePrompt(t *testing.T) {
	t.Parallel()
	api := claudetest.NewAPI(t)
	result := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"ok"}]}`
	both := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"no"},{"type":"text","text":"@say after"}]}`
	for _, c := range []struct {
		messages []string
		status   int
		want     string
	}{
		{[]string{said("user", "hello")}, 200, "echo: hello"},
		{[]string{said("user", "@say a b")}, 200, "a b"},
		{[]string{said("user", "@say one"), said("assistant", "one"), said("user", "@recall")}, 200, "recall: @say one | @recall"},
		{[]string{said("user", `@tool Bash {"command":"true"}`)}, 200, `{"command":"true"}`},
		{[]string{said("user", "@tool Bash {}"), result}, 200, "tool done"},
		{[]string{said("user", "@tool Bash {}"), both, said("system", "more")}, 200, "after"},
		{[]string{said("user", "<system-reminder>x</system-reminder>"), said("user", "@slow 2")}, 200, "word1 word2 "},
		{[]string{said("user", "@status 529")}, 529, ""},
	} {
		status, text, events := asked(t, api.URL(), c.messages...)
		if status != c.status || text != c.want {
			t.Errorf("%v: %d %q, want %d %q", c.messages, status, text, c.status, c.want)
		}
		if status == 200 && (events[0] != "message_start" || events[len(events)-1] != "message_stop") {
			t.Errorf("%v: events %v", c.messages, events)
		}
	}
	if got := api.Requests(); len(got) != 8 || got[2].Texts[0] != "@say one" {
		t.Errorf("%+v", got)
	}
}

func TestAPIHoldsAnAnswerUntilItIsReleased(t *testing.T) {
	t.Parallel()
	api := claudetest.NewAPI(t)
	got := make(chan string, 1)
	go func() {
		_, text, events := asked(t, api.URL(), said("user", "@hang begun"))
		got <- text + " " + events[len(events)-1]
	}()
	api.Asked(t, "@hang begun")
	select {
	case text := <-got:
		t.Fatalf("it did not hang: %q", text)
	default:
	}
	api.Release()
	if text := <-got; text != "begun message_stop" {
		t.Errorf("%q", text)
	}
}

func TestAPIFillsTheFormOfATitle(t *testing.T) {
	t.Parallel()
	api := claudetest.NewAPI(t)
	body := `{"messages":[],"output_config":{"format":{"schema":{"properties":{"title":{"type":"string"},"new":{"type":"boolean"}}}}}}`
	res, err := http.Post(api.URL()+"/v1/messages", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var all bytes.Buffer
	if _, err := all.ReadFrom(res.Body); err != nil || !strings.Contains(all.String(), `{\"new\":false,\"title\":\"A title of the fake\"}`) {
		t.Errorf("%v\n%s", err, all.String())
	}
	if got := api.Requests(); len(got) != 1 || !got[0].Title {
		t.Errorf("%+v", got)
	}
	for _, path := range []string{"/", "/api/hello"} {
		if res, err := http.Head(api.URL() + path); err != nil || res.StatusCode != http.StatusOK {
			t.Errorf("%s: %v %v", path, res, err)
		}
	}
}

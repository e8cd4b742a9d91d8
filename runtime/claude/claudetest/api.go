package claudetest

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

// waitLimit is how long a test waits for what must come, on a machine that is busy with other tests.
const waitLimit = time.Minute

// maxRequest bounds a request's body; those of a short conversation take some 200 kB.
const maxRequest = 32 << 20

// API is a fake of the Messages API on a port of its own. The last thing that a person typed chooses the answer:
//
//	@say TEXT         TEXT
//	@tool NAME JSON   a call of the tool with that input; once its result is there, "tool done"
//	@lines N          N lines
//	@slow N           N words, one each 100 ms
//	@hang [TEXT]      TEXT and then nothing until Release, or until the client goes
//	@status CODE      an error with that HTTP status
//	@recall           every text that a person typed and the request holds, which is what a resume must bring back
//
// Any other text is answered by "echo: " and the text. Each answer tells the same use of tokens (Usage).
// A prompt of several lines is judged by its first.
type API struct {
	url    string
	server *http.Server

	mu       sync.Mutex
	requests []Request
	changed  chan struct{} // closed, and made anew, with each request
	release  chan struct{} // closed by Release, and made anew
}

// Request is one request for an answer.
type Request struct {
	Session string   // the conversation's id, as the client names it
	Texts   []string // what a person typed, oldest first
	System  string   // the system prompt
	Title   bool     // it asks for a title, not for a turn
}

// Usage is what each answer says of its tokens.
type Usage struct {
	Input       int `json:"input_tokens"`
	CacheCreate int `json:"cache_creation_input_tokens"`
	CacheRead   int `json:"cache_read_input_tokens"`
	Output      int `json:"output_tokens"`
}

// EachUsage is the Usage of each answer.
func EachUsage() Usage { return Usage{Input: 11, CacheCreate: 200, CacheRead: 3000, Output: 7} }

// NewAPI serves until the test ends.
func NewAPI(tb testing.TB) *API {
	tb.Helper()
	a, err := StartAPI()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(a.Close)
	return a
}

// StartAPI serves until Close.
func StartAPI() (*API, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	a := &API{url: "http://" + l.Addr().String(), changed: make(chan struct{}), release: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", a.messages)
	mux.HandleFunc("POST /v1/messages/count_tokens", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"input_tokens":100}`)
	})
	// What is not there is said as the real one says it; HEAD / and HEAD /api/hello only ask whether somebody answers.
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodHead {
			refuse(w, http.StatusNotFound, "not_found_error", "the fake has no "+r.URL.Path)
		}
	})
	a.server = &http.Server{Handler: mux, ReadHeaderTimeout: waitLimit}
	go func() { _ = a.server.Serve(l) }()
	return a, nil
}

// Close ends every answer under way. A second one does nothing.
func (a *API) Close() { _ = a.server.Close() }

// URL is where it serves.
func (a *API) URL() string { return a.url }

// Requests are those so far, oldest first.
func (a *API) Requests() []Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.requests)
}

// Await waits for a request that matches, one that was there before included.
func (a *API) Await(tb testing.TB, what string, match func(Request) bool) Request {
	tb.Helper()
	limit := time.After(waitLimit)
	for {
		a.mu.Lock()
		i := slices.IndexFunc(a.requests, match)
		seen, changed := a.requests, a.changed
		a.mu.Unlock()
		if i >= 0 {
			return seen[i]
		}
		select {
		case <-changed:
		case <-limit:
			tb.Fatalf("waited in vain for a request: %s\ngot %+v", what, seen)
		}
	}
}

// Asked waits for the request whose newest text is this.
func (a *API) Asked(tb testing.TB, text string) Request {
	tb.Helper()
	return a.Await(tb, text, func(r Request) bool {
		return !r.Title && len(r.Texts) > 0 && r.Texts[len(r.Texts)-1] == text
	})
}

// Release lets every answer that @hang holds now come to its end.
func (a *API) Release() {
	a.mu.Lock()
	defer a.mu.Unlock()
	close(a.release)
	a.release = make(chan struct{})
}

// note keeps a request and returns what ends a hang that begins with it.
func (a *API) note(r Request) <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests = append(a.requests, r)
	close(a.changed)
	a.changed = make(chan struct{})
	return a.release
}

func (a *API) messages(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	var asked call
	if err == nil {
		err = json.Unmarshal(body, &asked)
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	schema := asked.OutputConfig.Format.Schema
	released := a.note(Request{
		Session: r.Header.Get("X-Claude-Code-Session-Id"), Texts: asked.texts(), System: asked.system(), Title: len(schema) > 0,
	})
	s := &stream{w: w, gone: r.Context().Done(), released: released, model: asked.Model}
	if len(schema) > 0 {
		s.say(fill(schema))
		return
	}
	s.answer(asked)
}

// refuse answers with an error in the API's own form.
func refuse(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"type": "error", "error": map[string]string{"type": kind, "message": message}})
}

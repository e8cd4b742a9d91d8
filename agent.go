package hitchpost

import (
	"regexp"
	"time"
)

// Agent is what is known of the agent that a session runs. The texts come from the agent's own files and hooks: whoever
// shows them makes them safe first, see OneLine. An empty field is not known.
type Agent struct {
	Program   string // absolute path of the program of the last start
	Version   string // as it told, such as "2.1.197"
	ConfigDir string // absolute; where the agent keeps settings, transcripts and its register
	Dir       string // Cwd with symlinks resolved: what the agent files its transcripts under

	Status       string // as its best source has it: idle, busy, waiting or shell
	StatusSource Source // FromRegistry or FromHook
	StatusAt     time.Time
	Uncertain    string // why the state is uncertain, naming both sources; empty: it is not
	Hooks        HookHealth
	Screen       AgentScreen

	// Title, LastPrompt and LastAnswer are from the transcript, one line each, cut to MaxAgentText bytes.
	Title, LastPrompt, LastAnswer string
	TokensIn, TokensOut           int64  // of the whole conversation so far
	ContextTokens                 int64  // in use now
	Transcript                    string // absolute path

	// Former are the ids that the session's conversation had before ConversationID, oldest first, the last MaxFormer of
	// them. An id stands there again each time it was left.
	Former []FormerConversation

	// Mark is that of the newest hook event that was applied. Marks of one run sort as text, in the order of the events;
	// an event with a mark not above this one changes nothing.
	Mark string
}

// MaxAgentText is the longest title, prompt or answer that is kept of an agent, in bytes.
const MaxAgentText = 500

// MaxFormer is how many former conversations are kept of a session.
const MaxFormer = 100

// FormerConversation is a conversation that a session ran before its present one.
type FormerConversation struct {
	ID           string
	Since, Until time.Time
	How          string // how it was left, in one word: clear, resume, fork, branch, restart
}

// IsConversation reports whether a text can be an agent's id of a conversation: a UUID, or another short word. It can
// stand as a word of a command line, since it is no flag and hides nothing.
func IsConversation(id string) bool { return conversationForm.MatchString(id) }

var conversationForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$`)

// HookHealth tells whether the hooks that were given to an agent reach the service.
type HookHealth string

// The health of hooks; empty where none could have come yet.
const (
	HooksSeen    HookHealth = "seen"
	HooksNotSeen HookHealth = "not seen" // the state is known from the register alone
)

// AgentScreen is the screen that an agent draws on.
type AgentScreen string

// The screens of a terminal. What was drawn on the alternate one is in no history.
const (
	MainScreen      AgentScreen = "main"
	AlternateScreen AgentScreen = "alternate"
)

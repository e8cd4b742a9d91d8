package claude

import (
	"slices"
	"strings"
)

// takes is how many words behind it a flag of claude takes as its values.
type takes int

const (
	none     takes = iota
	one            // the next word, whatever it is
	optional       // the next word unless it begins with a dash
	many           // the next word, and all behind it until one begins with a dash
)

// flag is one flag of claude.
type flag struct {
	takes takes
	// once marks what a Restart does not give again: it would type, or do, a second time what was meant for the beginning.
	once bool
	// restored marks what comes back with a conversation that is resumed. Given again, it would undo what was done about
	// it meanwhile (/rename), or make a second one (a worktree without a name).
	restored bool
	// refusal and instead say why a session cannot have it, and what to do; empty where it can.
	refusal, instead string
}

const (
	endsAtOnce = "it prints and ends, which leaves no session"
	runIt      = "run that as a command or as a task"
	elsewhere  = "the conversation would run elsewhere than in this session"
	inSession  = "leave it out: the session itself stays when you leave"
)

// flags is what claude of versions 2.1.197 and 2.1.332 takes, by every spelling: that of --help, and what is documented
// but not shown there.
var flags = map[string]flag{
	"--add-dir":                            {takes: many},
	"--advisor":                            {takes: one},
	"--agent":                              {takes: one},
	"--agents":                             {takes: one},
	"--allow-dangerously-skip-permissions": {},
	"--allowed-tools":                      {takes: many},
	"--allowedTools":                       {takes: many},
	"--append-subagent-system-prompt":      {takes: one},
	"--append-subagent-system-prompt-file": {takes: one},
	"--append-system-prompt":               {takes: one},
	"--append-system-prompt-file":          {takes: one},
	"--autocompact":                        {takes: one},
	"--ax-screen-reader":                   {},
	"--background":                         {refusal: elsewhere, instead: inSession},
	"--bare":                               {},
	"--betas":                              {takes: many},
	"--bg":                                 {refusal: elsewhere, instead: inSession},
	"--brief":                              {},
	"--channels":                           {takes: many},
	"--chrome":                             {},
	"--cloud":                              {takes: optional, refusal: elsewhere, instead: "leave it out"},
	"--continue":                           {refusal: takesNewest, instead: nameIt},
	"--dangerously-load-development-channels":  {takes: many},
	"--dangerously-skip-permissions":           {},
	"--debug":                                  {takes: optional},
	"--debug-file":                             {takes: one},
	"--debug-to-stderr":                        {refusal: spoils, instead: "use --debug-file=PATH"},
	"--desktop":                                {refusal: elsewhere, instead: "leave it out"},
	"--disable-slash-commands":                 {},
	"--disallowed-tools":                       {takes: many},
	"--disallowedTools":                        {takes: many},
	"--effort":                                 {takes: one},
	"--enable-auto-mode":                       {},
	"--environment":                            {takes: one, refusal: elsewhere, instead: "leave it out"},
	"--exclude-dynamic-system-prompt-sections": {},
	"--fallback-model":                         {takes: one},
	"--file":                                   {takes: many},
	"--fork-session":                           {},
	"--forward-subagent-text":                  {},
	"--from-pr":                                {takes: optional, refusal: mayAsk, instead: nameIt},
	"--help":                                   {refusal: endsAtOnce, instead: runIt},
	"--ide":                                    {},
	"--include-hook-events":                    {},
	"--include-partial-messages":               {},
	"--init":                                   {once: true},
	"--init-only":                              {refusal: endsAtOnce, instead: runIt},
	"--input-format":                           {takes: one},
	"--json-schema":                            {takes: one},
	"--maintenance":                            {once: true},
	"--managed-settings":                       {takes: one},
	"--max-budget-usd":                         {takes: one},
	"--max-thinking-tokens":                    {takes: one},
	"--max-turns":                              {takes: one},
	"--mcp-config":                             {takes: many},
	"--mcp-debug":                              {},
	"--model":                                  {takes: one},
	"--name":                                   {takes: one, restored: true},
	"--no-chrome":                              {},
	"--no-session-persistence":                 {refusal: notKept, instead: "leave it out"},
	"--output-format":                          {takes: one},
	"--permission-mode":                        {takes: one},
	"--permission-prompt-tool":                 {takes: one},
	"--permission-prompts":                     {takes: one},
	"--plan-mode-instructions":                 {takes: one},
	"--plugin-dir":                             {takes: one},
	"--plugin-dir-no-mcp":                      {takes: one},
	"--plugin-url":                             {takes: one},
	"--prefill":                                {takes: one, once: true},
	"--prefill-b64":                            {takes: one, once: true},
	"--print":                                  {refusal: endsAtOnce, instead: runIt},
	"--prompt-suggestions":                     {takes: optional},
	"--rc":                                     {takes: optional, refusal: elsewhere, instead: "leave it out"},
	"--remote":                                 {takes: optional, refusal: elsewhere, instead: "leave it out"},
	"--remote-control":                         {takes: optional, refusal: elsewhere, instead: "leave it out"},
	"--remote-control-session-name-prefix":     {takes: one},
	"--replay-user-messages":                   {},
	"--reply-on-resume":                        {refusal: sentAgain, instead: "leave it out, and send it yourself"},
	"--restricted":                             {},
	"--resume":                                 {takes: optional},
	"--resume-drops-turn":                      {takes: one, refusal: cutsAgain, instead: "use /rewind in the session"},
	"--resume-session-at":                      {takes: one, refusal: cutsAgain, instead: "use /rewind in the session"},
	"--rewind-files":                           {takes: one, refusal: endsAtOnce, instead: runIt},
	"--routine":                                {takes: optional, refusal: elsewhere, instead: inSession},
	"--safe-mode":                              {},
	"--sdk-url":                                {takes: one, refusal: elsewhere, instead: "leave it out"},
	"--session-id":                             {takes: one},
	"--setting-sources":                        {takes: one},
	"--settings":                               {takes: one},
	"--strict-mcp-config":                      {},
	"--system-prompt":                          {takes: one},
	"--system-prompt-file":                     {takes: one},
	"--system-prompt-snapshot":                 {takes: one},
	"--task-budget":                            {takes: one},
	"--teammate-mode":                          {takes: one},
	"--teleport":                               {takes: optional, refusal: elsewhere, instead: "leave it out"},
	"--thinking":                               {takes: one},
	"--thinking-display":                       {takes: one},
	"--tmux":                                   {refusal: elsewhere, instead: "give --worktree alone"},
	"--tools":                                  {takes: many},
	"--tui":                                    {takes: one}, // ours: claude knows a setting of that name
	"--verbose":                                {},
	"--version":                                {refusal: endsAtOnce, instead: runIt},
	"--workload":                               {takes: one},
	"--worktree":                               {takes: optional, restored: true},
}

const (
	takesNewest = "it takes the newest conversation of the directory, which may be another session's"
	nameIt      = "name the conversation with --resume ID"
	sentAgain   = "nothing is sent again by itself"
	mayAsk      = "it may ask which conversation is meant"
	notKept     = "a conversation that is not kept cannot be resumed"
	spoils      = "what it prints would run through the screen"
	cutsAgain   = "each restart would cut the conversation again"
)

// short is the long spelling of each flag of one letter.
var short = map[string]string{
	"-c": "--continue", "-d": "--debug", "-h": "--help", "-n": "--name", "-p": "--print", "-r": "--resume",
	"-v": "--version", "-V": "--version", "-w": "--worktree",
}

// commands is the first words by which claude does something else than open a conversation, also behind flags and --,
// in any of the versions.
const commands = `agents attach auth auto-mode bridge daemon design-login doctor edit-chrome-settings edit-hook
 edit-memory-settings edit-permission-rules edit-sandbox-settings edit-skill-overrides gateway help import install kill
 logs mcp plugin plugins project purge rc remote remote-control respawn rm sandbox self-hosted-agent-proxy
 self-hosted-runner setup-token stop sync ultrareview update upgrade workspace-trust worktree-hook`

// isCommand reports whether claude takes a first word for a command.
func isCommand(word string) bool {
	return slices.Contains(strings.Fields(commands), word)
}

package main

import (
	"encoding/xml"
	"strings"
)

// launchdLabel names the service for launchctl, and launchdFile is its file.
const (
	launchdLabel = "com.github.hitchpost.hitchpost"
	launchdFile  = launchdLabel + ".plist"
)

// launchdPlist is the text of the job; launchd.plist(5). AbandonProcessGroup keeps launchd from killing what serve has
// left behind: the tmux server with all sessions.
func launchdPlist(in installation) string {
	var words strings.Builder
	for _, w := range append([]string{in.Binary, "serve", "--data-dir", in.DataDir}, in.Flags...) {
		words.WriteString("\t\t<string>" + xmlText(w) + "</string>\n")
	}
	return seal(strings.NewReplacer("@SEAL@", noSeal, "@WORDS@\n", words.String(), "@PATH@", xmlText(in.Path),
		"@LOG@", xmlText(in.LogFile)).Replace(launchdTemplate))
}

const launchdTemplate = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by hitchpost service install, @SEAL@. -->
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + launchdLabel + `</string>
	<key>ProgramArguments</key>
	<array>
@WORDS@
	</array>
	<key>EnvironmentVariables</key>
	<dict>
		<key>PATH</key>
		<string>@PATH@</string>
	</dict>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>AbandonProcessGroup</key>
	<true/>
	<key>ExitTimeOut</key>
	<integer>20</integer>
	<key>StandardErrorPath</key>
	<string>@LOG@</string>
</dict>
</plist>
`

func xmlText(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}

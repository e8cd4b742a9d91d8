package sshd

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/ssh"

	"github.com/hitchpost/hitchpost"
)

// maxKeyLine is longer than any line that holds a key of an accepted type.
const maxKeyLine = 16 << 10

// maxComment is how much of a key's comment is kept, in bytes.
const maxComment = 128

// ParseKey reads one line in authorized_keys format (sshd(8)). The result has no actor and no role. The only options
// that are taken are those that mean nothing here, as what they forbid is not there (no-pty excepted: a key without a
// terminal is none for this product), and no-touch-required. The others would restrict what the key may do, and a
// restriction that is not kept must not be dropped silently. Errors are of kind UsageError.
func ParseKey(line string) (hitchpost.Key, error) {
	line = strings.TrimSpace(line)
	if len(line) > maxKeyLine || strings.ContainsAny(line, "\n\r\x00") {
		return hitchpost.Key{}, badKey("that is not one line with one public key")
	}
	if strings.Contains(line, "PRIVATE KEY") {
		return hitchpost.Key{}, badKey("that is a private key, which nobody should see").
			Hinted("give the line in the file that ends in .pub")
	}
	public, comment, options, _, err := ssh.ParseAuthorizedKey([]byte(line))
	if err != nil {
		return hitchpost.Key{}, badKey("that is not a public key")
	}
	if _, ok := public.(*ssh.Certificate); ok {
		return hitchpost.Key{}, badKey("certificates are not accepted")
	}
	if err := weakness(public); err != nil {
		return hitchpost.Key{}, badKey(err.Error()).Hinted("make one with ssh-keygen -t ed25519")
	}
	key := hitchpost.Key{
		Fingerprint:   ssh.FingerprintSHA256(public),
		AuthorizedKey: strings.TrimSpace(string(ssh.MarshalAuthorizedKey(public))),
		Type:          public.Type(),
		Comment:       cleanComment(comment),
	}
	for _, o := range options {
		switch name, _, _ := strings.Cut(strings.ToLower(o), "="); name {
		case noTouchRequired:
			key.TouchOptional = true
		case "no-agent-forwarding", "no-port-forwarding", "no-x11-forwarding", "no-user-rc",
			"agent-forwarding", "port-forwarding", "x11-forwarding", "user-rc", "pty":
		default:
			return hitchpost.Key{}, badKey("the option " + quoted(name) + " of a key is not known here").
				Hinted("take it off, if the key may do all that its role allows")
		}
	}
	return key, nil
}

func badKey(message string) *hitchpost.Error {
	return hitchpost.Errorf(hitchpost.UsageError, "%s", message).
		Hinted("give one line as in ~/.ssh/id_ed25519.pub")
}

// cleanComment is a key's comment as it may be shown: it comes from whoever made the key.
func cleanComment(c string) string {
	c = strings.Join(strings.Fields(hitchpost.OneLine(strings.ToValidUTF8(c, ""))), " ")
	c = strings.ReplaceAll(c, "\uFFFD", "")
	for len(c) > maxComment {
		_, n := utf8.DecodeLastRuneInString(c)
		c = c[:len(c)-n]
	}
	return c
}

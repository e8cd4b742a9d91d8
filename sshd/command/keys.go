package command

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost"
)

func (c *call) keyVerb() *cobra.Command {
	cmd := c.parent("key", "who may come in", c.keyLsVerb(), c.keyAddVerb(), c.keyRevokeVerb())
	cmd.Example = "key add --role viewer - < id_ed25519.pub"
	return cmd
}

func (c *call) keyLsVerb() *cobra.Command {
	cmd := &cobra.Command{
		Use: "ls", Short: "the keys and whose they are", Example: "key ls --json", Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			keys, err := c.Service.Keys(cmd.Context(), c.Actor)
			if err != nil {
				return err
			}
			if c.json {
				return c.document(keyList{1, each(keys, viewKey)})
			}
			rows := [][]string{{"FINGERPRINT", "TYPE", "ACTOR", "ROLE", "VALID", "USED", "COMMENT"}}
			for _, k := range keys {
				rows = append(rows, []string{
					k.Fingerprint, k.Type, k.Actor, string(k.Role), c.validity(k), c.age(k.LastUsedAt), k.Comment,
				})
			}
			return c.print(table(rows, c.columns()))
		},
	}
	c.prints(cmd, "key-list")
	return cmd
}

// validity is whether and until when a key is good, for people.
func (c *call) validity(k hitchpost.Key) string {
	switch {
	case !k.RevokedAt.IsZero():
		return "revoked"
	case k.ExpiresAt.IsZero():
		return "yes"
	case k.Valid(c.Now()) != nil:
		return "expired"
	}
	return "until " + k.ExpiresAt.UTC().Format(time.DateOnly)
}

func (c *call) keyAddVerb() *cobra.Command {
	var actor, role string
	var expires duration
	cmd := &cobra.Command{
		Use: "add [KEY|-]", Short: "let a key in, a revoked one again: its .pub line, or stdin",
		Example: "key add --actor ann --expires 90d - < ann.pub",
		RunE: func(cmd *cobra.Command, words []string) error {
			role, err := parseRole(role)
			if err == nil && cmd.Flags().Changed("actor") {
				err = hitchpost.CheckActor(actor)
			}
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("expires") && expires == 0 {
				return usage("a key that expires at once is of no use").Hinted("give --expires a time like 90d")
			}
			line, err := c.keyLine(words)
			if err != nil {
				return err
			}
			k, err := c.ParseKey(line)
			if err != nil {
				return err
			}
			k.Actor, k.Role = actor, role
			if expires > 0 {
				k.ExpiresAt = c.Now().Add(time.Duration(expires)).UTC()
			}
			added, err := c.Service.AddKey(cmd.Context(), c.Actor, k)
			return c.key(added, err)
		},
	}
	c.prints(cmd, "key")
	cmd.Flags().StringVar(&actor, "actor", "", "whose key it is, `A` (default yours; of a revoked one as before)")
	cmd.Flags().StringVar(&role, "role", "", "`R`: admin, operator or viewer (default operator; of a revoked one as before)")
	cmd.Flags().Var(&expires, "expires", "good for so long, `D` like 90d (default for ever)")
	return cmd
}

// parseRole is a role by its name; none without a name.
func parseRole(name string) (hitchpost.Role, error) {
	switch r := hitchpost.Role(strings.ToLower(name)); r {
	case "", hitchpost.Admin, hitchpost.Operator, hitchpost.Viewer:
		return r, nil
	}
	return "", usage("no role %q", name).Hinted("use admin, operator or viewer")
}

// keyLine is the one key among the words, or on stdin. Blank lines and comments are passed over.
func (c *call) keyLine(words []string) (string, error) {
	text := "-"
	if len(words) > 0 {
		text = strings.Join(words, " ")
	}
	text, err := c.orInput(text, "key", keyLimit)
	if err != nil {
		return "", err
	}
	var found []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			found = append(found, line)
		}
	}
	switch len(found) {
	case 0:
		return "", usage("no key was given").Hinted("send a .pub file, as in: %s", "key add - < id_ed25519.pub")
	case 1:
		return found[0], nil
	}
	return "", usage("%d keys were given", len(found)).Hinted("add them one by one")
}

func (c *call) keyRevokeVerb() *cobra.Command {
	var actor string
	cmd := &cobra.Command{
		Use: "revoke FINGERPRINT", Short: "shut a key out, now and until it is added again", Example: "key revoke SHA256:…",
		Long: "Whoever is in with it is shown out. With --actor that goes for every key of\n" +
			"theirs.",
		RunE: func(cmd *cobra.Command, words []string) error {
			if cmd.Flags().Changed("actor") {
				if len(words) > 0 {
					return usage("`key revoke --actor` does not take %q", words[0]).Hinted("give a FINGERPRINT or --actor")
				}
				return c.keys(c.Service.RevokeActor(cmd.Context(), c.Actor, actor))
			}
			if err := exactly("a FINGERPRINT")(cmd, words); err != nil {
				return err
			}
			k, err := c.Service.RevokeKey(cmd.Context(), c.Actor, words[0])
			return c.key(k, err)
		},
	}
	c.prints(cmd, "key")
	c.printsWith(cmd, "actor", "key-list")
	cmd.Flags().StringVar(&actor, "actor", "", "all keys of `A` instead of one")
	return cmd
}

// keys prints several keys after an act.
func (c *call) keys(list []hitchpost.Key, err error) error {
	if err != nil {
		return err
	}
	if c.json {
		return c.document(keyList{1, each(list, viewKey)})
	}
	return c.print(table(each(list, func(k hitchpost.Key) []string {
		return []string{k.Fingerprint, k.Actor, string(k.Role), c.validity(k)}
	}), 0))
}

// key prints a key after an act.
func (c *call) key(k hitchpost.Key, err error) error {
	if err != nil {
		return err
	}
	if c.json {
		return c.document(viewKey(k))
	}
	return c.keys([]hitchpost.Key{k}, nil)
}

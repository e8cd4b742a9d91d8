package command

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost"
)

func (c *call) whoamiVerb() *cobra.Command {
	cmd := &cobra.Command{
		Use: "whoami", Short: "who you are here, and by which key", Example: "whoami --json", Args: exactly(),
		RunE: func(*cobra.Command, []string) error {
			a := c.Actor
			if c.json {
				return c.document(actorView{a.Name, a.Role, a.Fingerprint, a.KeyType, a.Login, a.Remote})
			}
			return c.print(table([][]string{
				{"actor", a.Name}, {"role", string(a.Role)}, {"fingerprint", a.Fingerprint}, {"key type", a.KeyType},
				{"login", a.Login}, {"remote", a.Remote},
			}, 0))
		},
	}
	c.prints(cmd, "whoami")
	return cmd
}

func (c *call) versionVerb() *cobra.Command {
	cmd := &cobra.Command{
		Use: "version", Short: "the version of Hitchpost", Example: "version", Args: exactly(),
		RunE: func(*cobra.Command, []string) error {
			if c.json {
				return c.document(versionView{c.Version})
			}
			return c.print([]byte("hitchpost " + hitchpost.OneLine(c.Version) + "\n"))
		},
	}
	c.prints(cmd, "version")
	return cmd
}

func (c *call) statusVerb() *cobra.Command {
	cmd := &cobra.Command{
		Use: "status", Short: "the health of each part", Example: "status --json", Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := c.Service.Status(cmd.Context(), c.Actor)
			if err != nil {
				return err
			}
			if c.json {
				return c.document(viewStatus(s))
			}
			return c.print(c.statusText(s))
		},
	}
	c.prints(cmd, "status")
	return cmd
}

func (c *call) statusText(s hitchpost.Status) []byte {
	database := "ok"
	if !s.Database.OK {
		database = "away: " + or(s.Database.Reason)
	}
	rows := [][]string{
		{"version", s.Version},
		{"started", c.when(s.Started)},
		{"database", database + ", since " + c.when(s.Database.Since)},
		{"clients", strconv.Itoa(s.Clients)},
	}
	for _, n := range s.Nodes {
		rows = append(rows, []string{"node " + n.Name, c.nodeState(n)})
	}
	var counts bytes.Buffer
	for _, state := range hitchpost.States() {
		if n := s.Sessions[state]; n > 0 {
			fmt.Fprintf(&counts, " %d %s", n, state)
		}
	}
	rows = append(rows, []string{"sessions", or(string(bytes.TrimSpace(counts.Bytes())))})
	return table(rows, 0)
}

func (c *call) nodeState(n hitchpost.Node) string {
	text := string(n.State)
	if n.Reason != "" {
		text += ": " + n.Reason
	}
	return text + ", since " + c.when(n.Since)
}

func (c *call) nodeVerb() *cobra.Command {
	ls := &cobra.Command{
		Use: "ls", Short: "the machines and whether they answer", Example: "node ls --json", Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := c.Service.Status(cmd.Context(), c.Actor)
			if err != nil {
				return err
			}
			if c.json {
				return c.document(nodeList{1, each(s.Nodes, viewNode)})
			}
			rows := [][]string{{"NODE", "STATE", "SINCE", "REASON"}}
			for _, n := range s.Nodes {
				rows = append(rows, []string{n.Name, string(n.State), c.age(n.Since), or(n.Reason)})
			}
			return c.print(table(rows, c.columns()))
		},
	}
	c.prints(ls, "node-list")
	cmd := c.parent("node", "machines", ls)
	cmd.Example = "node ls"
	return cmd
}

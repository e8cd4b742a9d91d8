package command

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// schemaFiles are the schemas of all documents, as JSON Schema of draft 2020-12. They say what is there and allow more,
// as documents may grow.
//
//go:embed schemas/*.json
var schemaFiles embed.FS

// schemaOfErrors is the schema of what every verb prints on stderr with --json when it fails.
const schemaOfErrors = "error"

// schemaMark is the annotation of a verb that names the schema of what it prints with --json. Followed by the name of a
// flag it names that of what the verb prints with that flag.
const schemaMark = "schema "

// prints gives a verb --json, with which it prints documents of that schema.
func (c *call) prints(cmd *cobra.Command, schema string) {
	cmd.Flags().BoolVar(&c.json, "json", false, "print JSON")
	c.printsWith(cmd, "", schema)
}

// printsWith says that the verb prints documents of another schema when that flag is given.
func (c *call) printsWith(cmd *cobra.Command, flag, schema string) {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[schemaMark+flag] = schema
}

// printsNothing gives --json to a verb that prints no document.
func (c *call) printsNothing(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.json, "json", false, "errors as JSON")
}

// walk calls see for every verb below parent, a verb before its own.
func walk(parent *cobra.Command, see func(*cobra.Command)) {
	for _, cmd := range parent.Commands() {
		see(cmd)
		walk(cmd, see)
	}
}

// addFormFlags gives help the flags with which verbs print another document, so that they can be named behind a verb.
func addFormFlags(help, root *cobra.Command) {
	walk(root, func(cmd *cobra.Command) {
		for mark := range cmd.Annotations {
			flag := strings.TrimPrefix(mark, schemaMark)
			if flag != "" && help.Flags().Lookup(flag) == nil {
				help.Flags().Bool(flag, false, "")
				help.Flags().Lookup(flag).Hidden = true
			}
		}
	})
}

// formFlag is the one of those flags that was given, or empty.
func formFlag(help *cobra.Command) (string, error) {
	var given []string
	help.Flags().Visit(func(f *pflag.Flag) {
		if f.Hidden {
			given = append(given, f.Name)
		}
	})
	if len(given) > 1 {
		return "", usage("--%s and --%s do not go together", given[0], given[1]).Hinted("give one of them")
	}
	return strings.Join(given, ""), nil
}

// schema prints the schema of what a verb prints, with a flag where one is named. That of the root is that of errors.
func (c *call) schema(verb *cobra.Command, flag string) error {
	name, ok := verb.Annotations[schemaMark+flag]
	switch {
	case !verb.HasParent() && flag == "":
		name = schemaOfErrors
	case !ok && flag != "":
		return usage("`%s` prints no other JSON with --%s", path(verb), flag).Hinted("leave --%s out", flag)
	case !ok:
		return usage("`%s` prints no JSON", path(verb)).Hinted("errors are as `%s help --schema` says", c.Program)
	}
	text, err := bundle(name)
	if err != nil {
		return err
	}
	return c.print(text)
}

// bundle is a schema with those that it refers to, as one document: JSON Schema Core 2020-12, section 9.3.
func bundle(name string) ([]byte, error) {
	text, err := schemaFile(name)
	if err != nil {
		return nil, err
	}
	var parts [][]byte
	for _, other := range referred(text) {
		part, err := schemaFile(other)
		if err != nil {
			return nil, err
		}
		parts = append(parts, fmt.Appendf(nil, "%q: %s", other, part))
	}
	if len(parts) > 0 {
		end := bytes.LastIndexByte(text, '}')
		text = fmt.Appendf(text[:end:end], `, "$defs": {%s}}`, bytes.Join(parts, []byte(", ")))
	}
	var out bytes.Buffer
	if err := json.Indent(&out, bytes.TrimSpace(text), "", "  "); err != nil {
		return nil, err
	}
	return append(out.Bytes(), '\n'), nil
}

func schemaFile(name string) ([]byte, error) {
	return schemaFiles.ReadFile("schemas/" + name + ".json")
}

// referred lists the schemas that a schema refers to. None of those refers to another.
func referred(text []byte) []string {
	var names []string
	for _, m := range regexp.MustCompile(`"\$ref": "urn:hitchpost:([a-z-]+)"`).FindAllSubmatch(text, -1) {
		names = append(names, string(m[1]))
	}
	return names
}

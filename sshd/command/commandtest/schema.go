// Package commandtest holds what command mode prints to the schemas that it publishes. It is for tests.
package commandtest

import (
	"bytes"
	"fmt"
	"maps"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is a published schema, at its word and strictly. It is safe for concurrent use.
type Schema struct {
	published, strict *jsonschema.Schema
}

// Compile reads a schema as `help --schema` prints it, which must stand by itself.
func Compile(text []byte) (*Schema, error) {
	published, err := compile(text, func(any) {})
	if err != nil {
		return nil, err
	}
	strict, err := compile(text, closeObjects)
	return &Schema{published, strict}, err
}

// Check is nil for one document, on one line, in which each field is as the schema says and none is that it does not
// know. Published schemas allow more fields, as documents grow; here such a field is one that was forgotten there.
func (s *Schema) Check(line []byte) error {
	if !bytes.HasSuffix(line, []byte("\n")) || bytes.Count(line, []byte("\n")) != 1 {
		return fmt.Errorf("not one line: %.200q", line)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
	if err != nil {
		return err
	}
	if err := s.published.Validate(document); err != nil {
		return err
	}
	return s.strict.Validate(document)
}

// Allows is nil where the schema as it is published takes the document.
func (s *Schema) Allows(document any) error { return s.published.Validate(document) }

func compile(text []byte, change func(any)) (*jsonschema.Schema, error) {
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	change(schema)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // which knows no scheme: what is not in the text is missing
	const name = "urn:printed"
	if err := c.AddResource(name, schema); err != nil {
		return nil, err
	}
	return c.Compile(name)
}

// closeObjects has every object of a schema refuse fields that are not named. An object that is another one with more
// gets the other's fields for its own, as a closed one cannot be added to.
func closeObjects(schema any) {
	root, ok := schema.(map[string]any)
	if !ok {
		return
	}
	if base, ok := root["$ref"].(string); ok {
		defs, _ := root["$defs"].(map[string]any)
		other, ok := defs[strings.TrimPrefix(base, "urn:hitchpost:")].(map[string]any)
		if !ok {
			return // compiling it tells of it
		}
		own := root["properties"].(map[string]any)
		maps.Copy(own, other["properties"].(map[string]any))
		root["required"] = append(root["required"].([]any), other["required"].([]any)...)
		delete(root, "$ref")
	}
	closeAll(root)
}

func closeAll(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		if _, ok := s["properties"].(map[string]any); ok {
			s["additionalProperties"] = false
		}
		for _, part := range s {
			closeAll(part)
		}
	case []any:
		for _, part := range s {
			closeAll(part)
		}
	}
}

package openapi

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"github.com/yosida95/uritemplate/v3"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// maxExplained is the largest number of problems reported for one body.
const maxExplained = 12

// explain says what is wrong with a body in a line each: where, and why. What a
// closed object rejects only because it was not looked at is left out: once one
// property is wrong, all are.
func explain(err error) error {
	var failed *jsonschema.ValidationError
	if !errors.As(err, &failed) {
		return err
	}
	var lines, left []string
	printer := message.NewPrinter(language.English)
	var walk func(e *jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		for _, cause := range e.Causes {
			walk(cause)
		}
		if len(e.Causes) > 0 {
			return
		}
		line := fmt.Sprintf("/%s: %s", strings.Join(e.InstanceLocation, "/"),
			e.ErrorKind.LocalizedString(printer))
		if _, closed := e.ErrorKind.(*kind.FalseSchema); closed {
			left = append(left, line+" (it is not described)")
		} else {
			lines = append(lines, line)
		}
	}
	walk(failed)
	if len(lines) == 0 {
		lines = left
	}
	lines = slices.Compact(slices.Sorted(slices.Values(lines)))
	if len(lines) > maxExplained {
		lines = append(lines[:maxExplained], "...")
	}
	return errors.New(strings.Join(lines, "\n  "))
}

// uriTemplate is the format of a template of RFC 6570, which expands to an
// address: the schema library's own knows only the simplest.
var uriTemplate = &jsonschema.Format{Name: "uri-template", Validate: func(v any) error {
	s, ok := v.(string)
	if !ok {
		return nil
	}
	t, err := uritemplate.New(s)
	if err != nil {
		return err
	}
	rest, err := t.Expand(nil)
	if err != nil {
		return err
	}
	u, err := url.Parse(rest)
	if err == nil && !u.IsAbs() {
		err = errors.New("it is not absolute")
	}
	return err
}}

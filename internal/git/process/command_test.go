package process

import (
	"reflect"
	"strings"
	"testing"

	"arbor/internal/git/object"
)

// Nothing outside the table can be run, whatever a client names its objects.
func TestCommandTable(t *testing.T) {
	t.Parallel()
	sha := object.SHA(strings.Repeat("ab", 20))
	for _, c := range []Command{
		{Sub: "push"},
		{Sub: "ls-tree", Flags: []string{"--name-only"}},
		{Sub: "ls-tree", Revs: []object.SHA{"--output=/tmp/x"}},
		{Sub: "ls-tree", Revs: []object.SHA{object.SHA(strings.ToUpper(string(sha)))}},
		{Sub: "ls-tree", Path: "/x"},
		{Sub: "index-pack", Flags: []string{"--strict"}},
		{Sub: "index-pack", Flags: []string{"--strict="}},
		{Sub: "cat-file", Revs: []object.SHA{sha}},
		{Sub: "upload-pack", Path: "--help"},
		{Sub: "upload-pack", Path: "relative"},
		{Sub: "ls-remote"},
		{Sub: "ls-remote", Remote: "ext::sh -c true"},
		{Sub: "ls-remote", Remote: "--upload-pack=/bin/true"},
		{Sub: "fetch", Remote: "/etc"},
		{Sub: "fetch", Remote: "https://code.example/a b"},
		{Sub: "fetch", Remote: "https://code.example/a", Refspecs: []string{":refs/heads/x"}},
		{Sub: "push", Remote: "https://code.example/a", Refspecs: []string{"--mirror"}},
		{Sub: "push", Remote: "https://code.example/a", Refspecs: []string{"+" + string(sha) + ":refs/pull/1/head"}},
		{Sub: "cat-file", Remote: "https://code.example/a"},
	} {
		if args, err := c.build(); err == nil {
			t.Errorf("%v gives %q", c, args)
		}
	}
	args, err := Command{Sub: "ls-tree", Flags: []string{"-r"}, Revs: []object.SHA{sha}}.build()
	if want := []string{"ls-tree", "-r", "--end-of-options", string(sha)}; err != nil ||
		!reflect.DeepEqual(args, want) {
		t.Errorf("got %q, %v", args, err)
	}
}

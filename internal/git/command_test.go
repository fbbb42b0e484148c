package git

import (
	"reflect"
	"strings"
	"testing"
)

// Nothing outside the table can be run, whatever a client names its objects.
func TestCommandTable(t *testing.T) {
	t.Parallel()
	sha := SHA(strings.Repeat("ab", 20))
	for _, c := range []command{
		{sub: "push"},
		{sub: "ls-tree", flags: []string{"--name-only"}},
		{sub: "ls-tree", revs: []SHA{"--output=/tmp/x"}},
		{sub: "ls-tree", revs: []SHA{SHA(strings.ToUpper(string(sha)))}},
		{sub: "ls-tree", path: "/x"},
		{sub: "index-pack", flags: []string{"--strict"}},
		{sub: "index-pack", flags: []string{"--strict="}},
		{sub: "cat-file", revs: []SHA{sha}},
		{sub: "upload-pack", path: "--help"},
		{sub: "upload-pack", path: "relative"},
	} {
		if args, err := c.build(); err == nil {
			t.Errorf("%v gives %q", c, args)
		}
	}
	args, err := command{sub: "ls-tree", flags: []string{"-r"}, revs: []SHA{sha}}.build()
	if want := []string{"ls-tree", "-r", "--end-of-options", string(sha)}; err != nil || !reflect.DeepEqual(args, want) {
		t.Errorf("got %q, %v", args, err)
	}
}

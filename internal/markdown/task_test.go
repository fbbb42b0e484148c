package markdown

import (
	"strings"
	"testing"
)

// Somebody who ticks a box changes the mark of this very task in the source, and no other byte.
func TestTasks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ source, want string }{
		{"- [ ] a\n- [x] b\n", "- [0] a\n- [1] b\n"},
		{"- [ ] a\r\n- [X] b\r\n\r\n1. [ ] c [ ]\r\n", "- [0] a\r\n- [1] b\r\n\r\n1. [2] c [ ]\r\n"},
		{"* [ ] a\n  - [ ] b\n    + [x] c\n", "* [0] a\n  - [1] b\n    + [2] c\n"},
		{"> - [ ] quoted\n", "> - [0] quoted\n"},
		{"    - [ ] code\n\n`- [ ]`\n\n```\n- [ ] code\n```\n", ""},
		{"[ ] a paragraph\n\n- a [ ] b\n- [] c\n- [y] d\n", ""},
		{"- [ ] a\x00", ""},
		{strings.Repeat("\n", maxLines) + "\n- [ ] a", ""},
	} {
		text := []byte(c.source)
		list := Tasks(c.source)
		for n, task := range list {
			if done := text[task.At] != ' '; done != task.Done {
				t.Errorf("%q: task %d is done: %v", c.source, n, task.Done)
			}
			text[task.At] = byte('0' + n)
		}
		if got := string(text); got != c.want && (c.want != "" || len(list) > 0) {
			t.Errorf("%q: %q, want %q", c.source, got, c.want)
		}
		if boxes := strings.Count(Parse(c.source).HTML(Links{}), `type="checkbox"`); boxes != len(list) &&
			!strings.Contains(c.source, "\x00") {
			t.Errorf("%q has %d boxes and %d tasks", c.source, boxes, len(list))
		}
	}
}

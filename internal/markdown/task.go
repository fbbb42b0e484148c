package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// Task is an item of a task list in a source.
type Task struct {
	At   int // the place of the mark between the brackets, in bytes
	Done bool
}

// Tasks finds the items of task lists in Markdown, in their order, which is that of their boxes in the
// document's HTML.
func Tasks(source string) (list []Task) {
	lines := strings.ReplaceAll(source, "\r\n", "\n")
	if clean(lines) != lines || strings.Count(lines, "\n") > maxLines { // shown otherwise than it stands
		return nil
	}
	defer func() {
		if recover() != nil { // a defect of goldmark
			list = nil
		}
	}()
	src := []byte(lines)
	_ = ast.Walk(goldmark().parser.Parse(text.NewReader(src)),
		func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			box, ok := n.(*extast.TaskCheckBox)
			if !ok || !entering || box.Parent().Lines().Len() == 0 {
				return ast.WalkContinue, nil
			}
			for at := box.Parent().Lines().At(0).Start; at+2 < len(src) && src[at] != '\n'; at++ {
				if src[at] == '[' && src[at+2] == ']' {
					list = append(list, Task{At: at + 1, Done: box.IsChecked})
					break
				}
			}
			return ast.WalkContinue, nil
		})
	if len(lines) < len(source) {
		unfold(source, list)
	}
	return list
}

// unfold moves the places of tasks in a text with single line ends to those in the source, where some have
// two bytes.
func unfold(source string, list []Task) {
	at, more := 0, 0 // in the source; line ends with two bytes before it
	for n := range list {
		for at < list[n].At+more {
			if strings.HasPrefix(source[at:], "\r\n") {
				more++
				at++
			}
			at++
		}
		list[n].At += more
	}
}

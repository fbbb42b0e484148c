package talk

import (
	"html"
	"html/template"
	"regexp"
	"strconv"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/markdown"
	"arbor/internal/page"
)

// A box as package markdown writes it, and with a check.
const (
	taskBox     = `<input type="checkbox" class="task-list-item-checkbox" disabled="" `
	taskOpen    = taskBox + `aria-label="Incomplete task">`
	taskChecked = taskBox + `checked="" aria-label="Completed task">`
)

// guardOf names a text: what was written for another version of it is not applied.
func guardOf(text string) string { return issue.Guard(&text) }

// withTasks turns the checkboxes of a text's task lists into buttons that send the named form. It reports
// false if there are none, or if there are other checkboxes among them, because then a checkbox cannot be
// matched to its task.
func withTasks(source string, body template.HTML, form string) (template.HTML, bool) {
	text := string(body)
	boxes := strings.Count(text, taskOpen) + strings.Count(text, taskChecked)
	if boxes == 0 || len(markdown.Tasks(source)) != boxes {
		return body, false
	}
	var b strings.Builder
	for n := 0; n < boxes; n++ {
		at, mark, checked := strings.Index(text, taskOpen), taskOpen, "false"
		if other := strings.Index(text, taskChecked); at < 0 || other >= 0 && other < at {
			at, mark, checked = other, taskChecked, "true"
		}
		b.WriteString(text[:at])
		text = text[at+len(mark):]
		b.WriteString(`<button class="task" role="checkbox" aria-checked="` + checked +
			`" aria-label="` + template.HTMLEscapeString(taskName(text, n+1)) +
			`" form="` + form + `" name="task" value="` + strconv.Itoa(n) + `"></button>`)
	}
	b.WriteString(text)
	return template.HTML(b.String()), true // the sanitized body, with buttons whose attributes are escaped
}

var anyTag = regexp.MustCompile(`<[^>]*>`)

// taskName is the accessible name of a task's box: the text that follows the box in the HTML, or "Task 3"
// where there is none.
func taskName(behind string, number int) string {
	line, _, _ := strings.Cut(behind, "\n")
	line, _, _ = strings.Cut(line, "</li>")
	name := strings.TrimSpace(html.UnescapeString(anyTag.ReplaceAllString(line, "")))
	if name == "" {
		return "Task " + strconv.Itoa(number)
	}
	return page.Clip(name, 200).Text
}

// ticked returns a text with one of its tasks toggled. Error: 409 if there is no such task.
func ticked(source string, number int) (string, error) {
	tasks := markdown.Tasks(source)
	if number < 0 || number >= len(tasks) {
		return "", errs.New(errs.Conflict, "The text has no such task.")
	}
	t, mark := tasks[number], "x"
	if t.Done {
		mark = " "
	}
	return source[:t.At] + mark + source[t.At+1:], nil
}

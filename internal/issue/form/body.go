package form

import (
	"slices"
	"strconv"
	"strings"
)

// noAnswer stands under the label of a field without an answer.
const noAnswer = "_No response_"

// Key is the name of the n-th field in the form that a browser sends.
func Key(n int) string { return "answer-" + strconv.Itoa(n) }

// Fault is what is wrong with the answer to a field.
type Fault struct {
	Field   int // index in Template.Fields
	Message string
}

// Write returns the text of an issue from the answers to a form: for each field the label as a heading, and the answer.
// answers are by Key. The faults are answers that are missing or not among the options.
func (t *Template) Write(answers map[string][]string) (body string, faults []Fault) {
	var parts []string
	for n, e := range t.Fields {
		if e.Type == "markdown" {
			continue
		}
		given := answers[Key(n)]
		if fault := e.fault(given); fault != "" {
			faults = append(faults, Fault{n, e.Label + " " + fault})
		}
		parts = append(parts, "### "+e.Label, e.write(given))
	}
	return strings.Join(parts, "\n\n"), faults
}

// Skeleton is the text of an issue with what the fields begin with, for people who write it without the form.
func (t *Template) Skeleton() string {
	if t.Fields == nil {
		return t.Body
	}
	var parts []string
	for _, e := range t.Fields {
		if e.Type == "markdown" {
			continue
		}
		parts = append(parts, "### "+e.Label)
		switch {
		case e.Type == "checkboxes":
			parts = append(parts, e.write(nil))
		case e.Default >= 0:
			parts = append(parts, e.Options[e.Default].Label)
		case strings.TrimSpace(e.Value) != "":
			parts = append(parts, e.write([]string{e.Value}))
		}
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// fault says what is wrong with the answer, after the field's label.
func (e *Element) fault(given []string) string {
	if e.Type == "dropdown" || e.Type == "checkboxes" {
		for _, answer := range given {
			if answer != "" && !e.has(answer) {
				return "has no option of that name"
			}
		}
		if e.Type == "dropdown" && !e.Multiple && len(given) > 1 {
			return "takes one option"
		}
	}
	if e.Type == "checkboxes" {
		for _, o := range e.Options {
			if o.Required && !slices.Contains(given, o.Label) {
				return "must be checked: " + o.Label
			}
		}
		return ""
	}
	if e.Required && strings.TrimSpace(strings.Join(given, "")) == "" {
		return "is required"
	}
	return ""
}

func (e *Element) has(option string) bool {
	return slices.ContainsFunc(e.Options, func(o Option) bool { return o.Label == option })
}

// write returns the answer as Markdown.
func (e *Element) write(given []string) string {
	if e.Type == "checkboxes" {
		lines := make([]string, len(e.Options))
		for n, o := range e.Options {
			mark := "- [ ] "
			if slices.Contains(given, o.Label) {
				mark = "- [x] "
			}
			lines[n] = mark + o.Label
		}
		return strings.Join(lines, "\n")
	}
	text := strings.TrimSpace(strings.Join(given, ", "))
	switch {
	case text == "":
		return noAnswer
	case e.Type == "textarea" && e.Render != "":
		fence := fenceFor(text)
		return fence + e.Render + "\n" + strings.Trim(strings.Join(given, "\n"), "\n") + "\n" + fence
	}
	return text
}

// fenceFor returns a fence of backticks that the text cannot close.
func fenceFor(text string) string {
	longest, run := 2, 0
	for _, c := range text {
		if c != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return strings.Repeat("`", longest+1)
}

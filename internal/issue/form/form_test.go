package form

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

const report = `name: Report
description: Something is broken
title: "[Bug]: "
labels: [bug, "help wanted"]
assignees: sam, 'ada'
body:
  - type: markdown
    attributes:
      value: Thanks!
  - type: input
    id: contact
    attributes:
      label: Contact
      placeholder: a@b
    validations:
      required: true
  - type: textarea
    id: logs
    attributes:
      label: Logs
      render: shell
  - type: dropdown
    id: part
    attributes:
      label: Part
      multiple: true
      default: 1
      options: [Roof, Door]
  - type: checkboxes
    id: terms
    attributes:
      label: Terms
      options:
        - label: I looked
          required: true
        - label: I care
`

// Answers to a form become an issue as GitHub writes it.
func TestAnswers(t *testing.T) {
	form, err := Parse("report.yml", report)
	if err != nil {
		t.Fatal(err)
	}
	if form.Name != "Report" || form.About != "Something is broken" || form.Title != "[Bug]: " ||
		strings.Join(form.Labels, "|") != "bug|help wanted" || strings.Join(form.Assignees, "|") != "sam|ada" {
		t.Errorf("read %+v", form)
	}
	body, faults := form.Write(map[string][]string{Key(1): {"me"}, Key(2): {"a\n```\nb"}, Key(3): {"Roof", "Door"},
		Key(4): {"I looked"}})
	const want = "### Contact\n\nme\n\n### Logs\n\n````shell\na\n```\nb\n````\n\n### Part\n\nRoof, Door\n\n" +
		"### Terms\n\n- [x] I looked\n- [ ] I care"
	if body != want || faults != nil {
		t.Errorf("%v\n%s", faults, body)
	}
	body, faults = form.Write(map[string][]string{Key(1): {" "}, Key(3): {"Cellar"}})
	var said []string
	for _, f := range faults {
		said = append(said, f.Message)
	}
	if strings.Join(said, "; ") !=
		"Contact is required; Part has no option of that name; Terms must be checked: I looked" {
		t.Errorf("faults %q", said)
	}
	if !strings.HasPrefix(body, "### Contact\n\n_No response_\n\n### Logs\n\n_No response_") {
		t.Errorf("wrote %s", body)
	}
	const skeleton = "### Contact\n\n### Logs\n\n### Part\n\nDoor\n\n### Terms\n\n- [ ] I looked\n- [ ] I care\n"
	if got := form.Skeleton(); got != skeleton {
		t.Errorf("skeleton %q", got)
	}
}

// A form that cannot be used says why.
func TestWrongForms(t *testing.T) {
	const top = "name: N\ndescription: D\nbody:\n"
	for text, want := range map[string]string{
		"":        "description is missing",
		"name: [": "not valid: ",
		"description: D\nbody: [{type: input, attributes: {label: L}}]":                            "name is missing",
		"name: N\ndescription: D\n":                                                                "body is missing or empty",
		top + "- type: markdown\n  attributes: {value: v}\n":                                       "not markdown",
		top + "- type: markdown\n":                                                                 "body[0]: value is missing",
		top + "- attributes: {label: L}\n":                                                         "body[0]: type is missing",
		top + "- type: slider\n":                                                                   `"slider" is not a type`,
		top + "- type: input\n":                                                                    "label is missing",
		top + "- {type: input, id: a b, attributes: {label: L}}\n":                                 "id can only",
		top + "- {type: dropdown, attributes: {label: L}}\n":                                       "options are missing",
		top + "- {type: dropdown, attributes: {label: L, options: [true]}}\n":                      "booleans",
		top + "- {type: dropdown, attributes: {label: L, options: [a, a]}}\n":                      `"a" is not unique`,
		top + "- {type: dropdown, attributes: {label: L, options: [a], default: 1}}\n":             "default 1",
		top + "- {type: textarea, attributes: {label: L, render: 'a b'}}\n":                        "render is not",
		top + "- {type: input, attributes: {label: L}}\n- {type: input, attributes: {label: L}}\n": `label "L" is not unique`,
	} {
		if _, err := Parse("a.yml", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Templates are written by strangers: each is read or refused, in bounded time, and never half.
func FuzzTemplate(f *testing.F) {
	for _, text := range []string{report, "---\nname: Bug\nabout: It fails\ntitle: ''\nlabels: [a]\n---\n\nWhat?\n",
		"---\nname: 7\n---\n", "---\nname: [x]\n---\n", "---\na: &a [x,x]\nb: &b [*a,*a]\nname: *b\n---\n",
		"---\n", "", "---\nname: \xff\n---\n", "contact_links:\n- {name: A, url: 'https://a', about: b}\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, file := range []string{"a.md", "a.yml"} {
			got, err := Parse(file, text)
			if err == nil && got.Name == "" {
				t.Errorf("%q is a template without a name", text)
			}
			if err == nil {
				got.Write(map[string][]string{Key(0): {"x"}})
				got.Skeleton()
			}
		}
		if c, _ := ParseConfig(text); len(c.Links) > maxLinks {
			t.Errorf("%d links", len(c.Links))
		}
	})
}

// A few bytes of YAML can name a large text, or each other, many times, and make the reader compare thousands of keys.
func TestFormsDoNotGrow(t *testing.T) {
	const top, end = "name: N\ndescription: D\n", "body: [{type: input, attributes: {label: L}}]\n"
	field := "- {type: textarea, attributes: {label: L%d, description: *a, value: *a}}\n"
	texts := top + "x: &a '" + strings.Repeat("x", 50_000) + "'\nbody:\n"
	merges := top + "x0: &x0 {label: L}\n"
	for n := range 9 {
		texts += fmt.Sprintf(field, n)
		merges += fmt.Sprintf("x%d: &x%d {<<: [%s*x%d]}\n", n+1, n+1, strings.Repeat(fmt.Sprintf("*x%d, ", n), 9), n)
	}
	for text, want := range map[string]string{
		texts:                      "too large",
		merges:                     "too large",
		top + "x: &a [*a]\n" + end: "too large",
		top + strings.Repeat("&a a: 1\n", maxKeys) + end:                      "too many keys",
		top + "body: [&a {type: input, attributes: {label: L}}, *a]\n":        "not unique",
		top + "x: &a {label: L}\nbody: [{type: input, attributes: *a}]\n":     "",
		top + "labels: [" + strings.Repeat("a, b, c, ", 5_000) + "d]\n" + end: "",
	} {
		_, err := Parse("a.yml", text)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.80q: %v, want %q", text, err, want)
		}
	}
	names := ""
	for n := range maxNames + 9 {
		names += strconv.Itoa(n) + ","
	}
	if got, err := Parse("a.yml", top+"labels: "+names+"\n"+end); err != nil || len(got.Labels) != maxNames {
		t.Errorf("%v, %v", got, err)
	}
}

package pages_test

import (
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
)

// templatePlant creates alice/garden with a form, a Markdown template, a wrong one and contact links.
func templatePlant(t testing.TB, s *apitest.Server) {
	t.Helper()
	h := &history{}
	const at = ".github/ISSUE_TEMPLATE/"
	h.commit("main", "", "Add templates",
		at+"config.yml", "blank_issues_enabled: false\ncontact_links:\n- {name: Forum, url: 'https://forum.example/', about: Ask}\n",
		at+"1_bug.yml", `name: Bug
description: Something <broke>
title: "[Bug]: "
labels: [bug, never made]
assignees: [sam, stranger]
body:
- {type: markdown, attributes: {value: "**Thank you**"}}
- {type: input, id: version, attributes: {label: Version, description: "See *about*"}, validations: {required: true}}
- {type: textarea, id: log, attributes: {label: Log, render: text}}
- {type: textarea, id: more, attributes: {label: More, value: As it was}}
- {type: dropdown, id: part, attributes: {label: Part, options: [Roof, Door], default: 1}}
- {type: dropdown, id: system, attributes: {label: System, options: [A, B, C], multiple: true}}
- {type: upload, id: files, attributes: {label: Files}}
- {type: checkboxes, id: terms, attributes: {label: Terms, options: [{label: I looked, required: true}, {label: I care}]}}
`,
		at+"2_idea.md", "---\nname: Idea\nabout: A wish\nlabels: enhancement\n---\nWhat for?\n",
		at+"3_wrong.yml", "name: Wrong\ndescription: W\nbody: []\n",
		".github/PULL_REQUEST_TEMPLATE/small.md", "Small.\n", "docs/pull_request_template.md", "Why?\n")
	h.commit("side", "main", "One", "a", "1\n")
	h.commit("side", "", "Two", "b", "1\n")
	s.Grant(t, h.into(t, s, "alice/garden", false), "sam", account.Push)
}

// A form asks what its template asks, and what is answered becomes the issue, with the template's labels also
// for authors who cannot label.
func TestIssueForms(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		people(t, s)
		templatePlant(t, s)
		const at, issues = "/alice/garden/issues/new", "/alice/garden/issues"
		offer := page(t, s, "rae", at, 200)
		shows(t, at, offer, "Bug", "Something <broke>", "Idea", "A wish", "Forum", "Ask")
		lacks(t, at, offer, "Wrong", "3_wrong", "blank issue", "<textarea")
		shows(t, at, page(t, s, "rae", at+"?template=blank", 200), "Idea") // blank issues are switched off
		wrong := page(t, s, "sam", at+"?labels=x", 200)
		shows(t, at, wrong, "Open a blank issue", "3_wrong.yml", "body is missing or empty")
		if !strings.Contains(string(wrong.Body), "?labels=x&amp;template=1_bug.yml") {
			t.Errorf("the query is lost: %s", wrong.Body)
		}
		shows(t, at, page(t, s, "", "/alice/garden/blob/main/.github/ISSUE_TEMPLATE/3_wrong.yml", 200),
			"cannot be used as a template of issues: body is missing or empty")
		form := page(t, s, "rae", at+"?template=1_bug.yml&version=1.2&part=Roof&title=x", 200)
		shows(t, at, form, "Thank you", "See about", "Version", "Part", "I looked")
		for _, part := range []string{"<strong>Thank you", `value="1.2"`, `value="x"`, "<option selected>Roof",
			">As it was</textarea>"} {
			if !strings.Contains(string(form.Body), part) {
				t.Errorf("the form has no %s: %s", part, form.Body)
			}
		}
		lacks(t, at, form, `name="body"`)

		again := post(t, s, "rae", issues, 422, "title", "It broke", "template", "1_bug.yml", "answer-1", " ",
			"answer-2", "kept", "answer-5", "D")
		shows(t, issues, again, "Version is required", "System has no option of that name", "must be checked", "kept")
		post(t, s, "rae", issues, 303, "title", "It broke", "template", "1_bug.yml", "answer-1", "1.2",
			"answer-2", "a\nb", "answer-4", "Door", "answer-5", "A", "answer-5", "C", "answer-7", "I looked")
		const want = "### Version\n\n1.2\n\n### Log\n\n```text\na\nb\n```\n\n### More\n\n_No response_\n\n" +
			"### Part\n\nDoor\n\n### System\n\nA, C\n\n### Files\n\n_No response_\n\n" +
			"### Terms\n\n- [x] I looked\n- [ ] I care"
		i := issue(t, s, "alice/garden")
		if i.Body != want {
			t.Errorf("made %s", i.Body)
		}
		if got := i.String(); !strings.HasSuffix(got, "label=bug to=sam") {
			t.Errorf("made %s", got)
		}
		post(t, s, "rae", issues, 303, "title", "A wish", "template", "2_idea.md", "body", "For fun")
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/issues/2", Headers: graduated, Status: 200,
			Want: `{"body": "For fun", "labels": [{"name": "enhancement"}]}`})
		// What a person wrote for a form that is gone is not lost.
		gone := post(t, s, "rae", issues, 409, "title", "x", "template", "gone.yml", "answer-0", "long work")
		shows(t, issues, gone, "The form was removed", "long work")
		// A file that is no template sets no labels.
		post(t, s, "rae", issues, 303, "title", "x", "template", "../../README.md", "body", "b", "label", "bug")
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/issues/3", Headers: graduated, Status: 200,
			Want: `{"labels": []}`})

		const pull = "/alice/garden/pulls/new?base=main&head=side"
		get(t, s, "sam", pull, 200, ">Why?</textarea>", "template=small.md")
		get(t, s, "sam", pull+"&template=small.md&title=T&labels=bug", 200, ">Small.</textarea>", `value="T"`,
			`value="bug" checked`)
		get(t, s, "sam", pull+"&body=Mine", 200, ">Mine</textarea>")
	})
}

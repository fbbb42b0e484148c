package gitdata

import "testing"

// A template's front matter is written by strangers: it is parsed, or the file is not a template.
func FuzzIssueTemplate(f *testing.F) {
	for _, text := range []string{"---\nname: Bug\nabout: It fails\ntitle: ''\nlabels: [a]\n---\n\nWhat?\n",
		"---\nname: 7\n---\n", "---\nname: [x]\n---\n", "---\na: &a [x,x]\nb: &b [*a,*a]\nname: *b\n---\n",
		"---\n", "", "---\nname: \xff\n---\n", "contact_links:\n- {name: A, url: 'https://a', about: b}\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, ok := parseIssueTemplate(text); ok && got.Name == "" {
			t.Errorf("%q is a template without a name", text)
		}
		var out Templates
		if out.config(text); len(out.Links) > maxContactLinks {
			t.Errorf("%d links", len(out.Links))
		}
	})
}

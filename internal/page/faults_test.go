package page

import (
	"html/template"
	"strings"
	"testing"

	"arbor/internal/errs"
)

// What is wrong with a field stands below it, also for people who only hear the page, and nothing of it becomes markup.
func TestFaultsStandBelowTheirFields(t *testing.T) {
	t.Parallel()
	const form = `<ul><li data-field="login">taken</li><li data-field="token">x</li></ul>` +
		`<input type="hidden" name="login" value="a"><input id="l" name="login" value="&lt;b>">` +
		`<input name="login"><textarea id="b" name="bio">` + "\n<input name=\"login\"></textarea>" +
		`<select name="role"><option>a</option></select><p>A & B</p>`
	got := string(placeFaults([]byte(form), []Fault{{"login", `"taken" <b>`}, {"bio", "too long"}, {"bio", "second"},
		{"role", "wrong"}, {"token", "x"}, {"", "whole"}}))
	want := `<ul><li data-field="login"><a href="#l">taken</a></li><li data-field="token">x</li></ul>` +
		`<input type="hidden" name="login" value="a">` +
		`<input id="l" name="login" value="&lt;b>" aria-invalid="true" aria-describedby="wrong-login">` +
		`<span class="wrong" id="wrong-login">&#34;taken&#34; &lt;b&gt;</span>` +
		`<input name="login"><textarea id="b" name="bio" aria-invalid="true" aria-describedby="wrong-bio">` +
		"\n<input name=\"login\"></textarea>" + `<span class="wrong" id="wrong-bio">too long</span>` +
		`<select name="role" aria-invalid="true" aria-describedby="wrong-role"><option>a</option></select>` +
		`<span class="wrong" id="wrong-role">wrong</span><p>A & B</p>`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if same := string(placeFaults([]byte(form), []Fault{{"", "whole"}})); same != form {
		t.Errorf("a page without faults of fields became %s", same)
	}
}

// A fault says the field's label and not its name in the API, in the message and below the field. What people wrote
// is not taken for either.
func TestFaultsAreInTheWordsOfTheForm(t *testing.T) {
	t.Parallel()
	faults := fieldMessages(errs.Validation(errs.Field{Field: "config.url", Code: errs.MissingField},
		errs.Field{Field: "tag_name", Code: errs.Custom, Message: "tag_name is too long"},
		errs.Field{Field: "head_sha", Code: errs.InvalidField, Message: `"head_sha" must be a text`},
		errs.Field{Field: "key", Code: errs.AlreadyExists}, errs.Field{Code: errs.Custom, Message: "hook is there"}))
	var page string
	for _, f := range faults {
		page += `<li data-field="` + f.Name + `">` + template.HTMLEscapeString(f.Text) + `</li>`
	}
	page += `<label for="u">Payload <b>URL</b></label><input id="u" name="url"><label for="t">Tag & <i></i></label>` +
		`<input id="t" name="tag_name"><input id="h" name="head_sha"><textarea id="k" name="key">Key is taken</textarea>`
	got := string(placeFaults([]byte(page), faults))
	for _, want := range []string{`<a href="#u">Payload is missing</a>`, `id="wrong-url">Payload is missing<`,
		`<a href="#t">Tag &amp; is too long</a>`, `id="wrong-tag_name">Tag &amp; is too long<`,
		`<a href="#h">Head sha must be a text</a>`, `id="wrong-key">Key is taken<`, `>Key is taken</textarea>`,
		`<li data-field="">Hook is there</li>`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
}

// A page whose form was not taken holds what its sender wrote: whatever that is, taking the faults away gives the
// page as it was.
func FuzzPlaceFaults(f *testing.F) {
	f.Add(`<input name="login"><textarea name="bio">x</textarea>`)
	f.Add(`<li data-field="login"><input name=login/><select name=role>`)
	f.Fuzz(func(t *testing.T, text string) {
		const fault = "UNIQUE-FAULT"
		if strings.Contains(text, fault) {
			return
		}
		got := string(placeFaults([]byte(text), []Fault{{"login", fault}}))
		if strings.Count(got, fault) > 1 || len(got) < len(text)-1 {
			t.Errorf("%q became %q", text, got)
		}
	})
}

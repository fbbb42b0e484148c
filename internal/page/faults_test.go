package page

import (
	"strings"
	"testing"
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

package checkrun

import (
	"testing"

	"arbor/internal/errs"
	"arbor/internal/web"
)

// Whatever Apps send is taken or refused, and nothing else.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{`{}`,
		`{"name": "x", "head_sha": "d670460b4b4aece5915caf5c68d12f560a9fe3e4", "conclusion": "success"}`,
		`{"output": {"title": "t", "summary": "s", "annotations": [{"path": "a", "start_line": 1, "end_line": 1, "annotation_level": "notice", "message": "m"}]}}`,
		`{"actions": [{"label": "a", "description": "b", "identifier": "c"}], "started_at": "2020-01-01T00:00:00Z"}`, `{"output": null}`, `{"actions": [null]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var change *Change
		object, err := web.ParseObject(body, Resource)
		if err == nil {
			_, change, err = ReadNew(object)
		}
		switch {
		case err == nil && change == nil:
			t.Error("neither a run nor an error")
		case err == nil && (change.Name == nil || len(change.Annotations) > 50 ||
			change.Status == Completed && change.Conclusion == 0):
			t.Errorf("taken: %+v", change)
		case err != nil && !errs.Is(err, errs.Invalid) && !errs.Is(err, errs.Malformed):
			t.Error(err)
		}
	})
}

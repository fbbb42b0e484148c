package web

import (
	"encoding/json"
	"errors"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"arbor/internal/errs"
	"arbor/internal/test/testkit"
)

// read decodes a body that has one field of each kind.
func read(t testing.TB, body string) (*Object, error) {
	t.Helper()
	o, err := ParseObject([]byte(body), "Thing")
	if err != nil {
		return nil, err
	}
	o.String("text", 5)
	o.Int("number")
	o.Bool("flag")
	o.Strings("list", 2, 3)
	o.Enum("state", "open", "closed")
	return o, o.Err()
}

// A value that an enumeration lacks is told with the field, beside those that it
// has, each once (decisions 15, 17).
func TestEnumerations(t *testing.T) {
	_, err := read(t, `{"state":"ajar"}`)
	r := httptest.NewRequest("GET", "/?direction=up", nil)
	_, ofQuery := QueryEnum(r, "Thing", "direction", "desc", "asc", "desc")
	for err, want := range map[error]errs.Field{
		err: {Resource: "Thing", Field: "state", Code: "invalid", Value: "ajar",
			Message: `"state" must be one of open, closed`},
		ofQuery: {Resource: "Thing", Field: "direction", Code: "invalid", Value: "up",
			Message: `"direction" must be one of asc, desc`},
	} {
		if e, ok := errors.AsType[*errs.Error](err); !ok || len(e.Fields) != 1 || e.Fields[0] != want {
			t.Errorf("got %+v, want %+v", err, want)
		}
	}
}

// Each wrong type names its field, and integers are exact: 1.0 is none
// (decisions 16, 17, 51).
func TestObject(t *testing.T) {
	for body, want := range map[string]string{
		`{}`:                "",
		`{"text":"12345"}`:  "",
		`{"text":"ééééé"}`:  "",
		`{"text":"éééééé"}`: "text custom",
		`{"text":null,"number":null,"flag":null,"list":null,"state":null}`: "",
		`{"text":1}`:                       "text invalid",
		`{"text":["a"]}`:                   "text invalid",
		`{"text":"\u0000"}`:                "text invalid",
		`{"number":9223372036854775807}`:   "",
		`{"number":-9223372036854775808}`:  "",
		`{"number":9223372036854775808}`:   "number invalid",
		`{"number":1.0}`:                   "number invalid",
		`{"number":1e2}`:                   "number invalid",
		`{"number":"1"}`:                   "number invalid",
		`{"number":true}`:                  "number invalid",
		`{"flag":0}`:                       "flag invalid",
		`{"flag":"true"}`:                  "flag invalid",
		`{"list":["a","b"]}`:               "",
		`{"list":[]}`:                      "",
		`{"list":["a","b","c"]}`:           "list invalid",
		`{"list":["abcd"]}`:                "list invalid",
		`{"list":["a",null]}`:              "list invalid",
		`{"list":["a",1]}`:                 "list invalid",
		`{"list":"a"}`:                     "list invalid",
		`{"state":"open"}`:                 "",
		`{"state":"OPEN"}`:                 "state invalid",
		`{"state":7}`:                      "state invalid",
		`{"TEXT":1,"Number":"x"}`:          "",
		`{"text":1,"text":"ok"}`:           "",
		`{"text":"ok","text":1}`:           "text invalid",
		`{"text":1,"number":"x","flag":3}`: "text invalid, number invalid, flag invalid",
	} {
		_, err := read(t, body)
		var got []string
		if e, ok := errors.AsType[*errs.Error](err); ok {
			for _, f := range e.Fields {
				got = append(got, f.Field+" "+f.Code)
				if f.Resource != "Thing" {
					t.Errorf("%s: resource %q", body, f.Resource)
				}
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

func TestRequire(t *testing.T) {
	for body, missing := range map[string]bool{`{}`: true, `{"title":null}`: true, `{"title":""}`: true,
		`{"title":"x"}`: false, `{"title":0}`: false} {
		o, err := ParseObject([]byte(body), "Issue")
		testkit.NoError(t, err)
		o.Require("title")
		if got := o.Err() != nil; got != missing {
			t.Errorf("%s: %v", body, o.Err())
		}
	}
}

func TestReadOptional(t *testing.T) {
	for body, fails := range map[string]bool{"": false, " \n": false, "null": false, "{}": false, "{": true,
		"[]": true, "nul": true} {
		r := httptest.NewRequest("PUT", "/", strings.NewReader(body))
		if _, err := ReadOptional(r, "Thing"); (err != nil) != fails {
			t.Errorf("%q: %v", body, err)
		}
	}
}

// Whatever a body holds: it is refused, or its text comes out as JSON says.
func FuzzObject(f *testing.F) {
	f.Add(`{"text":"abc","number":1,"list":["a"]}`)
	f.Add(`{"text":"\ud800"}`)
	f.Add(`{"a":` + strings.Repeat("[", 100))
	f.Add("\xef\xbb\xbf{}")
	f.Fuzz(func(t *testing.T, body string) {
		o, err := ParseObject([]byte(body), "Thing")
		if err != nil {
			if !errs.Is(err, errs.Malformed) {
				t.Fatal(err)
			}
			return
		}
		var reference map[string]any
		if err := json.Unmarshal([]byte(body), &reference); err != nil {
			t.Fatalf("accepted what encoding/json refuses: %v", err)
		}
		text := o.String("text", 0)
		want, isText := reference["text"].(string)
		if o.Err() == nil && text.Given() && (!isText || !reflect.DeepEqual(text.Value, want)) {
			t.Fatalf("%q is %q, want %q", body, text.Value, want)
		}
	})
}

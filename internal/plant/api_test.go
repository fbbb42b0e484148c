package plant

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
	"arbor/internal/web"
)

// step is a request and the answer that it must have.
type step struct {
	login, method, path, body string
	status                    int
	want                      string // body; "#N": an error with this number
}

// TestScenarios tells the life of a store. A user would lose plants to others,
// see what is not theirs, or get an answer that their client cannot tell apart.
func TestScenarios(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := open(t, engine)
		for _, step := range slices.Concat(growing(), refusals(), removing()) {
			check(t, s.send(t, step.login, step.method, step.path, step.body), step)
		}
	})
}

// growing adds plants, whose ids reach as far as integers do, and lists them.
func growing() []step {
	rose := `{"name":"rose <&> \"\\\u0001\n\t` + "\u2028 \U0001f339" + `"}`
	return []step{
		{"alice", "GET", "/plants", "", 200, `[]`},
		{"alice", "POST", "/plants", `{"id": 7, "name": "fern", "tag": "indoor"}`, 200,
			`{"name":"fern","tag":"indoor"}`},
		{"alice", "POST", "/plants", `{"id": 3, "name": "oak"}`, 200, `{"name":"oak"}`},
		{"alice", "POST", "/plants", `{"id": -9223372036854775808, "name": "low", "tag": null}`, 200,
			`{"name":"low"}`},
		{"alice", "POST", "/plants", `{"id": 9223372036854775807, "name": "high", "tag": ""}`, 200,
			`{"name":"high","tag":""}`},
		{"bob", "POST", "/plants",
			`{"id": 5, "name": "rose <&> \"\\\u0001\n\t\u2028 \ud83c\udf39", "x": [{}]}`, 200, rose},
		{"alice", "GET", "/plants", "", 200,
			`[{"name":"low"},{"name":"oak"},{"name":"fern","tag":"indoor"},{"name":"high","tag":""}]`},
		{"bob", "GET", "/plants?limit=2147483647", "", 200, `[` + rose + `]`},
		{"root", "GET", "/plants?limit=3", "", 200, `[{"name":"low"},{"name":"oak"},` + rose + `]`},
		{"alice", "GET", "/plants?limit=2&other=x", "", 200, `[{"name":"low"},{"name":"oak"}]`},
		{"alice", "GET", "/plants?limit=1&limit=2", "", 200, `[{"name":"low"}]`},
		{"alice", "GET", "/plants?limit=0", "", 200, `[]`},
		{"alice", "GET", "/plants?limit=-0", "", 200, `[]`},
		{"alice", "HEAD", "/plants", "", 200, ``},

		{"alice", "GET", "/plants?limit=-1", "", 400, "#40009"},
		{"alice", "GET", "/plants?limit=2147483648", "", 400, "#40009"},
		{"alice", "GET", "/plants?limit=1.0", "", 400, "#40009"},
		{"alice", "GET", "/plants?limit=%2B1", "", 400, "#40009"},
		{"alice", "GET", "/plants?limit=", "", 400, "#40009"},
		{"alice", "GET", "/plants?limit=%zz", "", 400, "#40009"},
		{"alice", "GET", "/plants?limit=1;a=b", "", 400, "#40009"},
	}
}

// refusals are bodies that are no plant, and some that just are one.
func refusals() []step {
	long := strings.Repeat("ü", 100_000)
	return []step{
		{"alice", "POST", "/plants", `{"id": 7, "name": "again"}`, 400, "#40008"},
		{"bob", "POST", "/plants", `{"id": 7, "name": "mine now"}`, 400, "#40008"},
		{"alice", "POST", "/plants", `{"id": 8, "name": "x"`, 400, "#40001"},
		{"alice", "POST", "/plants", " ", 400, "#40001"},
		{"alice", "POST", "/plants", "{\"id\": 8, \"name\": \"\xff\"}", 400, "#40001"},
		{"alice", "POST", "/plants", `{"id": 8, "name": "x"} {}`, 400, "#40001"},
		{"alice", "POST", "/plants", strings.Repeat("[", 500_000), 400, "#40001"},
		{"alice", "POST", "/plants", `[{"id": 8, "name": "x"}]`, 400, "#40002"},
		{"alice", "POST", "/plants", `null`, 400, "#40002"},
		{"alice", "POST", "/plants", `{"name": "x"}`, 400, "#40003"},
		{"alice", "POST", "/plants", `{"id": null, "name": "x"}`, 400, "#40003"},
		{"alice", "POST", "/plants", `{"ID": 8, "name": "x"}`, 400, "#40003"},
		{"alice", "POST", "/plants", `{"id": 1.0, "name": "x"}`, 400, "#40004"},
		{"alice", "POST", "/plants", `{"id": 1e3, "name": "x"}`, 400, "#40004"},
		{"alice", "POST", "/plants", `{"id": "8", "name": "x"}`, 400, "#40004"},
		{"alice", "POST", "/plants", `{"id": true, "name": "x"}`, 400, "#40004"},
		{"alice", "POST", "/plants", `{"id": 9223372036854775808, "name": "x"}`, 400, "#40004"},
		{"alice", "POST", "/plants", `{"id": -9223372036854775809, "name": "x"}`, 400, "#40004"},
		{"alice", "POST", "/plants", `{"id": 8}`, 400, "#40005"},
		{"alice", "POST", "/plants", `{"id": 8, "name": null}`, 400, "#40005"},
		{"alice", "POST", "/plants", `{"id": 8, "Name": "x"}`, 400, "#40005"},
		{"alice", "POST", "/plants", `{"id": 8, "name": ""}`, 400, "#40006"},
		{"alice", "POST", "/plants", `{"id": 8, "name": 8}`, 400, "#40006"},
		{"alice", "POST", "/plants", `{"id": 8, "name": {}}`, 400, "#40006"},
		{"alice", "POST", "/plants", `{"id": 8, "name": "x\u0000"}`, 400, "#40006"},
		{"alice", "POST", "/plants", `{"id": 8, "name": "x", "tag": 1}`, 400, "#40007"},
		{"alice", "POST", "/plants", `{"id": 8, "name": "x", "tag": "\u0000"}`, 400, "#40007"},
		{"alice", "POST", "/plants", `{"id": 8, "name": "` + strings.Repeat("x", 1<<20) + `"}`,
			413, "#41300"},
		{"alice", "POST", "/plants",
			`{"id": 10, "id": "1", "id": 11, "name": 1, "name": "last", "tag": "t", "tag": null}`, 200,
			`{"name":"last"}`},
		{"bob", "POST", "/plants", `{"id": 11, "name": "x"}`, 400, "#40008"},
		{"bob", "POST", "/plants", `{"id": 10, "name": "` + long + `"}`, 200, `{"name":"` + long + `"}`},
	}
}

// removing takes plants away, and turns away whom they do not belong to.
func removing() []step {
	return []step{
		{"bob", "DELETE", "/plants/7", "", 400, `{"error":40011,"message":"you have no plant with this id"}`},
		{"bob", "DELETE", "/plants/8", "", 400, `{"error":40011,"message":"you have no plant with this id"}`},
		{"root", "DELETE", "/plants/8", "", 400,
			`{"error":40011,"message":"you have no plant with this id"}`},
		{"bob", "DELETE", "/plants/seven", "", 400, "#40010"},
		{"bob", "DELETE", "/plants/+7", "", 400, "#40010"},
		{"bob", "DELETE", "/plants/7.0", "", 400, "#40010"},
		{"bob", "DELETE", "/plants/9223372036854775808", "", 400, "#40010"},
		{"alice", "DELETE", "/plants/-9223372036854775808", "", 204, ""},
		{"alice", "DELETE", "/plants/7", "", 204, ""},
		{"alice", "DELETE", "/plants/7", "", 400, "#40011"},
		{"root", "DELETE", "/plants/10", "", 204, ""},
		{"alice", "GET", "/plants", "", 200, `[{"name":"oak"},{"name":"last"},{"name":"high","tag":""}]`},
		{"bob", "POST", "/plants", `{"id": 7, "name": "free again"}`, 200, `{"name":"free again"}`},

		{"", "GET", "/plants", "", 401, "#40100"},
		{"", "POST", "/plants", `{`, 401, "#40100"},
		{"", "DELETE", "/plants/x", "", 401, "#40100"},
		{"alice", "GET", "/plants/x/y", "", 404, "#40400"},
	}
}

// check compares an answer with what a step wants.
func check(t *testing.T, res *http.Response, want step) {
	t.Helper()
	name := want.login + " " + want.method + " " + want.path + " " + want.body[:min(60, len(want.body))]
	got := body(t, res)
	if res.StatusCode != want.status {
		t.Errorf("%s: status %d, want %d; body %.200s", name, res.StatusCode, want.status, got)
		return
	}
	if typ := res.Header.Get("Content-Type"); want.status != http.StatusNoContent &&
		typ != "application/json" {
		t.Errorf("%s: Content-Type %q", name, typ)
	}
	challenge := res.Header.Get("WWW-Authenticate")
	if (want.status == http.StatusUnauthorized) != (challenge == "Bearer") {
		t.Errorf("%s: WWW-Authenticate %q", name, challenge)
	}
	n, isError := strings.CutPrefix(want.want, "#")
	if !isError {
		if got != want.want {
			t.Errorf("%s: body %.200s, want %.200s", name, got, want.want)
		}
		return
	}
	var e map[string]any
	if err := json.Unmarshal([]byte(got), &e); err != nil {
		t.Errorf("%s: %v in %q", name, err, got)
	}
	number, _ := e["error"].(float64)
	message, _ := e["message"].(string)
	if strconv.Itoa(int(number)) != n || message == "" || len(e) != 2 {
		t.Errorf("%s: body %s, want error %s and a message", name, got, n)
	}
}

// TestContentType keeps bodies out that their sender never called JSON.
func TestContentType(t *testing.T) {
	t.Parallel()
	s := open(t, db.SQLite)
	for i, test := range []struct {
		types []string
		ok    bool
	}{
		{[]string{"application/json"}, true},
		{[]string{"Application/JSON ; charset=utf-8"}, true},
		{[]string{"application/vnd.service.v3+json"}, true},
		{nil, false},
		{[]string{""}, false},
		{[]string{"text/plain"}, false},
		{[]string{"text/json"}, false},
		{[]string{"application/jsonp"}, false},
		{[]string{"application/x-www-form-urlencoded"}, false},
		{[]string{"image/svg+json"}, false},
		{[]string{"application/json", "text/plain"}, false},
	} {
		r, err := http.NewRequest("POST", s.url+"/plants",
			strings.NewReader(`{"name":"n","id":`+strconv.Itoa(i)+`}`))
		testkit.NoError(t, err)
		r.Header.Set("Authorization", "Bearer alice")
		r.Header["Content-Type"] = test.types
		want := step{method: "POST", path: strings.Join(test.types, "|"), status: 415, want: "#41501"}
		if test.ok {
			want.status, want.want = 200, `{"name":"n"}`
		}
		check(t, s.do(t, r), want)
	}
}

// TestConditions keeps the table of the store's document and the answers together: a client that switches on a
// number must find it there, with its status.
func TestConditions(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../apidoc/plants.yaml")
	testkit.NoError(t, err)
	var numbers []int
	for _, row := range regexp.MustCompile(`(?m)^ +\| (\d{5}) \| (\d{3}) \| .+ \|$`).FindAllStringSubmatch(string(document), -1) {
		n, _ := strconv.Atoi(row[1])
		numbers = append(numbers, n)
		if row[1][:3] != row[2] {
			t.Errorf("number %d has status %s", n, row[2])
		}
	}
	if !slices.IsSorted(numbers) || len(slices.Compact(slices.Clone(numbers))) != len(numbers) {
		t.Errorf("numbers are not in order or repeat: %v", numbers)
	}
	source, err := os.ReadFile("errors.go")
	testkit.NoError(t, err)
	own := regexp.MustCompile(`(?m)^\t\w+ +number = (\d{5})$`).FindAllStringSubmatch(string(source), -1)
	for _, m := range own {
		if n, _ := strconv.Atoi(m[1]); !slices.Contains(numbers, n) {
			t.Errorf("the document lacks %d", n)
		}
	}
	if len(own) < 10 {
		t.Errorf("found %d numbers in errors.go", len(own))
	}
	for kind := errs.Internal; kind < errs.Canceled; kind++ {
		switch kind {
		case errs.Conflict, errs.Gone, errs.Invalid, errs.NotAcceptable:
			continue // nothing under /plants ends so
		}
		w := httptest.NewRecorder()
		r := web.With(httptest.NewRequest("GET", "/plants", nil), &web.Info{ID: "id", Form: Errors})
		web.Fail(w, r, errs.Wrap(kind, `say "no"`, errors.New("secret cause")))
		var e struct {
			Error   int
			Message string
		}
		testkit.NoError(t, json.Unmarshal(w.Body.Bytes(), &e))
		if !slices.Contains(numbers, e.Error) || e.Error != w.Code*100 {
			t.Errorf("kind %d: status %d, %s", kind, w.Code, w.Body)
		}
		if strings.Contains(w.Body.String(), "secret") {
			t.Errorf("kind %d reveals its cause: %s", kind, w.Body)
		}
	}
}

// TestOneOwner: of clients that race for an id exactly one gets it; another
// answer would tell two people that the same plant is theirs.
func TestOneOwner(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := open(t, engine)
		for id := range 20 {
			var wg sync.WaitGroup
			var winners atomic.Int32
			for i := range 8 {
				wg.Go(func() {
					p := &Plant{ID: int64(id), Name: strconv.Itoa(i)}
					err := New(s.db).Create(t.Context(), s.callers[[]string{"alice", "bob"}[i%2]], p)
					switch n := number(0); {
					case err == nil:
						winners.Add(1)
					case !errors.As(err, &n) || n != takenID:
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if n := winners.Load(); n != 1 {
				t.Fatalf("plant %d was given to %d", id, n)
			}
		}
	})
}

// TestGoneAccount: a token that outlives its account for a moment adds nothing.
func TestGoneAccount(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := open(t, engine)
		err := New(s.db).Create(t.Context(), &account.Caller{ID: 99}, &Plant{ID: 1, Name: "x"})
		if !errs.Is(err, errs.Unauthenticated) {
			t.Errorf("got %v, want Unauthenticated", err)
		}
	})
}

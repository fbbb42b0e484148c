package plant

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
	"arbor/internal/web"
)

// listed is a plant as a list shows it.
type listed struct {
	Name string
	Tag  *string
}

func decode(t testing.TB, r io.Reader) []listed {
	t.Helper()
	var plants []listed
	d := json.NewDecoder(r)
	testkit.NoError(t, d.Decode(&plants))
	if _, err := d.Token(); err != io.EOF {
		t.Fatalf("after the list: %v", err)
	}
	return plants
}

// TestLimits cuts lists around the ends of chunks, where one row too many or
// too few would show.
func TestLimits(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := open(t, engine)
		const n = 2 * chunkRows
		s.fill(t, n, 1, "")
		for _, limit := range []int{1, chunkRows - 1, chunkRows, chunkRows + 1, n - 1, n, n + 1} {
			for _, login := range []string{"alice", "root"} {
				plants := decode(t, s.send(t, login, "GET", "/plants?limit="+strconv.Itoa(limit), "").Body)
				if len(plants) != min(n, limit) || plants[len(plants)-1].Name != strconv.Itoa(min(n, limit)) {
					t.Errorf("%s, limit %d: %d plants, the last %+v", login, limit, len(plants),
						plants[len(plants)-1])
				}
			}
		}
		if plants := decode(t, s.send(t, "bob", "GET", "/plants", "").Body); len(plants) != 0 {
			t.Errorf("bob sees %d plants of alice's", len(plants))
		}
		if res := s.send(t, "alice", "HEAD", "/plants", ""); res.StatusCode != 200 || body(t, res) != "" {
			t.Errorf("HEAD of a long list: %s", res.Status)
		}
	})
}

// TestListWhileWriting: a list that is read while others add and remove plants
// repeats nothing, keeps its order and misses nothing that was there throughout.
func TestListWhileWriting(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := open(t, engine)
		const n, step = 8_000, 10
		s.fill(t, n, step, "")
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- churn(ctx, s, n*step) }()
		for range 3 {
			next := step
			last := 0
			for _, p := range decode(t, s.send(t, "alice", "GET", "/plants", "").Body) {
				id, err := strconv.Atoi(p.Name)
				if err != nil || id <= last {
					t.Fatalf("%q after %d", p.Name, last)
				}
				last = id
				if id%step == 0 {
					if id != next {
						t.Fatalf("plant %d is missing", next)
					}
					next += step
				}
			}
			if next != (n+1)*step {
				t.Fatalf("the list ends before plant %d", next)
			}
		}
		stop()
		testkit.NoError(t, <-done)
	})
}

// churn adds and removes plants between those of fill until ctx ends.
func churn(ctx context.Context, s *shop, top int) error {
	plants, alice := New(s.db), s.callers["alice"]
	for i := 1; ctx.Err() == nil; i += 7919 {
		id := i%top/10*10 + 1 + i%9
		p := &Plant{ID: int64(id), Name: strconv.Itoa(id)}
		if err := plants.Create(context.Background(), alice, p); err != nil {
			return err
		}
		if err := plants.Delete(context.Background(), alice, p.ID); err != nil {
			return err
		}
	}
	return nil
}

// bigList is more than sockets buffer, so that a reader who stops holds it up.
func bigList(t *testing.T, s *shop) (n int) {
	s.fill(t, 2_400, 1, strings.Repeat("x", 10_000))
	return 2_400
}

// TestSlowReader: a client that takes longer than the server's time for an
// answer still gets its list whole.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	s := open(t, db.SQLite)
	n := bigList(t, s)
	res := s.send(t, "alice", "GET", "/plants", "")
	time.Sleep(writeTimeout + writeTimeout/2)
	if plants := decode(t, res.Body); len(plants) != n {
		t.Errorf("%d plants, want %d", len(plants), n)
	}
}

// TestHangUp: a client that goes away ends the work done for it.
func TestHangUp(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := open(t, engine)
		bigList(t, s)
		res := s.send(t, "alice", "GET", "/plants", "")
		if _, err := bufio.NewReader(res.Body).Peek(10); err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		select {
		case err := <-s.ended:
			if err == nil {
				t.Error("the list was completed for nobody")
			}
		case <-time.After(testkit.Patience):
			t.Error("the list is still being read")
		}
	})
}

// TestTorn: a list that fails on its way never looks complete.
func TestTorn(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := open(t, engine)
		bigList(t, s)
		res := s.send(t, "alice", "GET", "/plants", "")
		s.write(t, `DROP TABLE plants`)
		got, err := io.ReadAll(res.Body)
		if err == nil || json.Valid(got) {
			t.Errorf("read %d bytes and %v: the list looks complete", len(got), err)
		}
	})
}

// FuzzCreateBody: whatever is accepted is stored and listed as it was meant.
func FuzzCreateBody(f *testing.F) {
	for _, seed := range []string{
		`{"id": 1, "name": "fern", "tag": "indoor"}`, `{"id": -0, "name": "\u0041\ud83c\udf39"}`,
		`{"id": 1, "name": "\ud83c", "tag": null}`, `{"id": 1, "name": "x", "name": "y", "\u0069d": 2}`,
		"{\"id\":1,\"name\":\"\x7f\u2028\\b\\f\\r\\/\"}", `{"id": 1, "name": "x", "tag": "\u0000"}`,
		`{`, `[]`, `"`,
		`{"id": 9223372036854775807, "name": " ", "tag": ""}`, `{"id":1e1,"name":"x"}`,
	} {
		f.Add([]byte(seed))
	}
	s := open(f, db.SQLite)
	f.Fuzz(func(t *testing.T, sent []byte) {
		if len(sent) == 0 || len(sent) > 1<<20 {
			return
		}
		res := s.send(t, "alice", "POST", "/plants", string(sent))
		answer := body(t, res)
		if res.StatusCode == 400 {
			return
		}
		if res.StatusCode != 200 {
			t.Fatalf("%s: %s", res.Status, answer)
		}
		var meant map[string]any
		if err := json.Unmarshal(sent, &meant); err != nil {
			t.Fatalf("accepted: %v", err)
		}
		var got []map[string]any
		list := body(t, s.send(t, "alice", "GET", "/plants", ""))
		if err := json.Unmarshal([]byte(list), &got); err != nil || len(got) != 1 {
			t.Fatalf("%v in %s", err, list)
		}
		if list != "["+answer+"]" || got[0]["name"] != meant["name"] || got[0]["tag"] != meant["tag"] {
			t.Fatalf("sent %s, answered %s, listed %s", sent, answer, list)
		}
		s.write(t, `DELETE FROM plants`)
	})
}

// FuzzParse holds the parser against one that makes a map of everything: a
// plant would get another's name if the two split an object differently.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"id": 1, "name": "fern", "tag": "indoor"}`, `{}`,
		` {"a":[1,{"b":"}"}],"id":2 ,"name":"\"","tag":null}	`,
		`{"\u0069d":3,"name":"\\","x":-1.5e3,"name":"y"}`, `[{"id":1}]`, `{"id":1,"name":""}`,
		`{"id":1,"name":"a","tag":[]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := parsePlant(body)
		o, parseErr := web.ParseObject(body, "Plant")
		if parseErr != nil {
			if err == nil {
				t.Fatalf("accepted %q: %+v", body, got)
			}
			return
		}
		want, wantErr := newPlant(o.Raw("id"), o.Raw("name"), o.Raw("tag"))
		if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(err, wantErr) {
			t.Fatalf("%q: %+v %v, want %+v %v", body, got, err, want, wantErr)
		}
	})
}

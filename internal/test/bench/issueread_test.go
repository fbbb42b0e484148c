//go:build long

package bench

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"arbor/internal/test/issuetest"
	"arbor/internal/test/testkit"
)

// readsPerWrite is how often a repository is read for each time that it is
// written.
const readsPerWrite = 50

// readIssues measures reads during writes to the same repository, compared with a handler that writes the
// same bytes from memory.
func (s *suite) readIssues(b *testing.B, a *arbor) {
	const list = "/repos/works/project0/issues?per_page=30"
	page := get(list, a.token)
	s.part(b, "page-30", func(b *testing.B) {
		s.besideMemory(b, a, 0, repeat(page), 200, 0.5)
		s.besideMemory(b, a, readsPerWrite, repeat(page), 200, 0.3)
	})
	s.part(b, "single", func(b *testing.B) {
		one := get("/repos/works/project0/issues/4711", a.token)
		s.besideMemory(b, a, 0, repeat(one), 200, 0.5)
		s.besideMemory(b, a, readsPerWrite, repeat(one), 200, 0.3)
	})
	s.part(b, "not-modified", func(b *testing.B) {
		again := bytes.Replace(page, []byte("\r\n\r\n"),
			[]byte("\r\nIf-None-Match: "+a.etag(b, list)+"\r\n\r\n"), 1)
		s.besideMemory(b, a, 0, repeat(again), http.StatusNotModified, 0.4)
		// rendering and the writes are most of it
		s.besideMemory(b, a, readsPerWrite, repeat(again), http.StatusNotModified, 0)
	})
	s.part(b, "distinct-10000", func(b *testing.B) {
		var requests [][]byte
		for _, path := range distinct() {
			requests = append(requests, get(path, a.token))
		}
		var at atomic.Int64
		next := func(int) []byte { return requests[int(at.Add(1))%len(requests)] }
		s.besideMemory(b, a, 0, next, 200, 0.1)
		s.besideMemory(b, a, readsPerWrite, next, 200, 0.05)
	})
	s.part(b, "graphql", func(b *testing.B) { s.besideREST(b, a) })
	s.part(b, "overload", func(b *testing.B) { s.overload(b, a) })
}

// ghIssueList is what gh issue list asks for.
const ghIssueList = `fragment issue on Issue {number,title,url,state,updatedAt,labels(first:100){nodes{id,name,description,color},totalCount}}
	query IssueList($owner:String!,$repo:String!,$limit:Int,$endCursor:String,$states:[IssueState!]=OPEN,$filterBy:IssueFilters,
	$orderBy:IssueOrder){repository(owner:$owner,name:$repo){
	hasIssuesEnabled issues(first:$limit,after:$endCursor,orderBy:$orderBy,filterBy:$filterBy,states:$states){
	totalCount nodes{...issue} pageInfo{hasNextPage endCursor}}}}`

// besideREST compares lists that nobody asked for, as gh issue list asks for them, with the same by REST.
func (s *suite) besideREST(b *testing.B, a *arbor) {
	paths := distinct()
	var at, from atomic.Int64
	var requests [][]byte
	for _, path := range paths {
		body, _ := json.Marshal(map[string]any{"query": ghIssueList, "variables": ghVariables(path)})
		requests = append(requests, request("POST", "/graphql", a.token, string(body)))
	}
	for _, clients := range []int{8, 1} {
		lists := newLoad(b, a.url, clients, func(int) []byte {
			return get(paths[int(at.Add(1))%len(paths)], a.token)
		})
		queries := newLoad(b, a.url, clients, func(int) []byte {
			return requests[int(from.Add(1))%len(requests)]
		})
		ratio, x, y := lists.against(b, queries, 2*slice)
		s.atMost(b, ratio, 2, "x-of-rest",
			fmt.Sprintf("%s, 30 issues as gh issue list asks for them, %d at once", rates(x, y), clients))
	}
}

// ghVariables are those of ghIssueList for the list that distinct names.
func ghVariables(path string) map[string]any {
	address, _ := url.Parse(path)
	q := address.Query()
	filter := map[string]any{}
	for name, field := range map[string]string{"assignee": "assignee", "milestone": "milestoneNumber",
		"creator":   "createdBy",
		"mentioned": "mentioned"} {
		if q.Has(name) {
			filter[field] = q.Get(name)
		}
	}
	if q.Has("labels") {
		filter["labels"] = []string{q.Get("labels")}
	}
	states := []string{strings.ToUpper(q.Get("state"))}
	if states[0] == "ALL" {
		states = []string{"OPEN", "CLOSED"}
	}
	field := map[string]string{"created": "CREATED_AT", "updated": "UPDATED_AT",
		"comments": "COMMENTS"}[q.Get("sort")]
	page, _ := strconv.Atoi(q.Get("page"))
	return map[string]any{"owner": "works", "repo": "project0", "limit": 30, "states": states,
		"filterBy":  filter,
		"orderBy":   map[string]any{"field": field, "direction": strings.ToUpper(q.Get("direction"))},
		"endCursor": base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "cursor:%d", (page-1)*30))}
}

// etag is the entity tag of an answer.
func (a *arbor) etag(b *testing.B, path string) string {
	r, err := http.NewRequest("GET", a.url+path, nil)
	testkit.NoError(b, err)
	r.Host = "bench" // as in client's requests: payloads show it
	r.Header.Set("Authorization", "Bearer "+a.token)
	answer, err := http.DefaultClient.Do(r)
	testkit.NoError(b, err)
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		b.Fatal(err)
	}
	return answer.Header.Get("ETag")
}

// distinct returns the addresses of ten thousand different first pages of 30 issues, in random order.
func distinct() []string {
	filters := []string{"assignee=none", "assignee=*", "milestone=none", "milestone=*"}
	for n := range issuetest.Million().Labels {
		filters = append(filters, "labels="+url.QueryEscape(issuetest.Label(n)))
	}
	for n := range issuetest.Million().Milestones {
		filters = append(filters, fmt.Sprint("milestone=", n+1))
	}
	for n := 1; n < issuetest.Million().People; n++ { // alice is 0
		filters = append(filters, "creator="+issuetest.Login(n), "mentioned="+issuetest.Login(n))
	}
	var paths []string
	for _, f := range filters {
		for page := range 5 {
			paths = append(paths, fmt.Sprintf("/repos/works/project0/issues?per_page=30&page=%d&%s", page+1,
				f))
		}
	}
	paths = inEveryOrder(paths)
	random := rand.New(rand.NewPCG(1, 1))
	random.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	return paths[:10_000]
}

// besideMemory compares the rate of reads of eight connections, each of which
// writes once for so many (0: never), with that of a handler that is read only.
// Without a bound it notes it.
func (s *suite) besideMemory(
	b *testing.B, a *arbor, perWrite int, next func(int) []byte, status int, bound float64,
) {
	ours := newMixed(b, a, next, status, perWrite)
	sample := int64(0)
	for range 50 {
		_, n, err := ours.clients[0].do(next(0))
		testkit.NoError(b, err)
		sample += n
	}
	floor := newMixed(b, &arbor{url: startFloor(b, sample/50)}, next, status, 0)
	ratio, x, y := ours.against(b, floor, 2*slice)
	detail := fmt.Sprintf("%s, %d bytes, without writes", rates(x, y), sample/50)
	if perWrite > 0 {
		detail = fmt.Sprintf("%s, %d bytes, a write for %d reads", rates(x, y), sample/50, perWrite)
	}
	if bound == 0 {
		s.note(b, ratio, "x-beside-writes", detail)
		return
	}
	s.atLeast(b, ratio, bound, "x-of-memory", detail)
}

// newMixed connects eight clients that read. After so many reads each writes once; 0 is never.
func newMixed(b *testing.B, a *arbor, next func(int) []byte, status, perWrite int) *load {
	b.Helper()
	l := newLoad(b, a.url, 8, next)
	var n atomic.Int64
	write := func() []byte { // comments and edits, of issues that no page shows
		k := n.Add(1)
		path := fmt.Sprintf("/repos/works/project0/issues/%d", 5000+k*37%40_000)
		if k%2 == 0 {
			return request("POST", path+"/comments", a.token, fmt.Sprintf(`{"body":"comment number %d"}`, k))
		}
		return request("PATCH", path, a.token, fmt.Sprintf(`{"title":"renamed %d"}`, k))
	}
	l.ask = func(c *client, number, asked int) error {
		got, _, err := c.do(next(number))
		if err == nil && got != status {
			err = fmt.Errorf("%w: %d", errStatus, got)
		}
		if err == nil && perWrite > 0 && (asked+1)%perWrite == 0 {
			_, err = c.must(write())
		}
		return err
	}
	return l
}

package issue

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue/text"
	"arbor/internal/issuekit"
	"arbor/internal/label"
	"arbor/internal/milestone"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/test/testkit"
	"arbor/internal/web"
)

// issueStruct is what appendIssue appends, for encoding/json.
type issueStruct struct {
	URL           string             `json:"url"`
	RepositoryURL string             `json:"repository_url"`
	LabelsURL     string             `json:"labels_url"`
	CommentsURL   string             `json:"comments_url"`
	EventsURL     string             `json:"events_url"`
	HTMLURL       string             `json:"html_url"`
	ID            ID                 `json:"id"`
	NodeID        string             `json:"node_id"`
	Number        int64              `json:"number"`
	Title         string             `json:"title"`
	User          *account.Simple    `json:"user"`
	Labels        []*label.Payload   `json:"labels"`
	State         string             `json:"state"`
	Locked        bool               `json:"locked"`
	Assignee      *account.Simple    `json:"assignee"`
	Assignees     []*account.Simple  `json:"assignees"`
	Milestone     *milestone.Payload `json:"milestone"`
	Comments      int64              `json:"comments"`
	CreatedAt     db.Time            `json:"created_at"`
	UpdatedAt     db.Time            `json:"updated_at"`
	ClosedAt      db.Time            `json:"closed_at"`
	Association   string             `json:"author_association"`
	LockReason    *string            `json:"active_lock_reason"`
	text.Payload
	Reactions   reaction.Object `json:"reactions"`
	TimelineURL string          `json:"timeline_url"`
	App         *struct{}       `json:"performed_via_github_app"`
	StateReason *string         `json:"state_reason"`
}

// inStruct makes the same payload as appendIssue.
func (p *page) inStruct(i *Issue) (*issueStruct, error) {
	at := p.places[i.RepoID]
	self := at.API + "/issues/" + strconv.FormatInt(i.Number, 10)
	body, err := p.bodies.At(p.bodyAt[i.ID])
	g := &Page{p}
	return &issueStruct{
		URL: self, RepositoryURL: at.API, LabelsURL: self + "/labels{/name}", CommentsURL: self + "/comments",
		EventsURL: self + "/events", HTMLURL: at.Page + "/issues/" + strconv.FormatInt(i.Number, 10), ID: i.ID,
		NodeID: account.NodeID("Issue", i.ID), Number: i.Number, Title: i.Title, User: p.simple(i.AuthorID),
		Labels: g.Labels(i), State: i.State.String(), Assignee: p.simple(i.Assignees[0]),
		Assignees: []*account.Simple{p.simple(i.Assignees[0])}, Milestone: g.Milestone(i),
		Comments:  i.Comments,
		CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt, ClosedAt: i.ClosedAt, Association: p.association(i),
		LockReason: i.LockReason, Payload: body, TimelineURL: self + "/timeline",
		Reactions: reaction.Object{URL: self + "/reactions", Rollup: p.rollups[i.ID]},
	}, err
}

// thirty is a page of thirty issues of one repository.
func thirty(t testing.TB) *page {
	t.Helper()
	info := &web.Info{Site: "http://here", Prefix: "http://here", Media: web.Media{Graduated: true}}
	alice := account.Account{ID: 1, Login: "alice", Kind: account.User}
	a := &repo.Access{Repo: &repo.Repo{ID: 7, Name: "garden", OwnerID: 1, Owner: alice}}
	p := &page{
		reactions: true, info: info, repos: map[repo.ID]*repo.Access{7: a},
		places: map[repo.ID]*issuekit.Addresses{7: issuekit.NewAddresses(info, a.Repo)},
		people: map[account.ID]*account.Account{1: &alice, 2: {ID: 2, Login: "bob", Kind: account.User}},
		labels: map[int64]*label.Label{3: {ID: 3, Name: "bug", Color: "d73a4a"},
			4: {ID: 4, Name: "good first issue"}},
		milestones: map[int64]*milestone.Milestone{5: {ID: 5, Number: 1, Title: "Spring", CreatorID: 1,
			State: issuekit.Open}},
		simples: map[account.ID]*account.Simple{}, users: map[account.ID][]byte{},
		labelJSON: map[int64][]byte{},
		milestone: map[int64][]byte{}, bodyAt: map[ID]int{},
	}
	body := "Snails eat *everything* that is \"green\" & tender <in a single night>.\n\nSee #7 — quickly."
	var texts []text.Source
	for n := range 30 {
		i := &Issue{ID: ID(100 + n), RepoID: 7, Number: int64(n + 1), Title: "A ladybird is lost",
			Body: &body, AuthorID: 2,
			Labels: []int64{3, 4}, Assignees: []account.ID{1}, MilestoneID: 5,
			State: issuekit.Open, Comments: 3,
			CreatedAt: 1_300_000_000_000_000, UpdatedAt: 1_700_000_000_000_000}
		p.issues, p.bodyAt[i.ID] = append(p.issues, i), n
		texts = append(texts, text.Source{Access: a, Body: i.Body})
	}
	r := web.With(httptest.NewRequest(http.MethodGet, "/", nil), info)
	err := web.Answer(httptest.NewRecorder(), r, http.StatusOK, func(out *web.Output) (err error) {
		p.bodies, err = text.New(nil, nil).Page(out, texts)
		return err
	})
	testkit.NoError(t, err)
	return p
}

// What is appended by hand is what encoding/json makes of the struct.
func TestAppendIssue(t *testing.T) {
	t.Parallel()
	p := thirty(t)
	for _, i := range p.issues {
		got, err := p.appendIssue(nil, i)
		testkit.NoError(t, err)
		v, err := p.inStruct(i)
		testkit.NoError(t, err)
		if want := mustMarshal(v); string(got) != string(want) {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	}
}

// BenchmarkRenderIssues renders a page of thirty issues by hand and by encoding/json.
func BenchmarkRenderIssues(b *testing.B) {
	p := thirty(b)
	b.Run("hand", func(b *testing.B) {
		var buf []byte
		b.ReportAllocs()
		for b.Loop() {
			buf = buf[:0]
			for _, i := range p.issues {
				buf, _ = p.appendIssue(buf, i)
			}
		}
	})
	b.Run("struct", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, i := range p.issues {
				v, _ := p.inStruct(i)
				mustMarshal(v)
			}
		}
	})
}

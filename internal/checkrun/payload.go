package checkrun

import (
	"context"
	"strconv"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Payload is GitHub's check-run.
type Payload struct {
	ID          int64         `json:"id"`
	Name        string        `json:"name"`
	NodeID      string        `json:"node_id"`
	SHA         git.SHA       `json:"head_sha"`
	ExternalID  string        `json:"external_id"`
	URL         string        `json:"url"`
	HTMLURL     string        `json:"html_url"`
	DetailsURL  string        `json:"details_url"`
	Status      string        `json:"status"`
	Conclusion  *string       `json:"conclusion"`
	StartedAt   db.Time       `json:"started_at"`
	CompletedAt db.Time       `json:"completed_at"`
	Output      output        `json:"output"`
	Suite       any           `json:"check_suite"` // suiteID; the whole suite in webhooks
	SuiteID     int64         `json:"-"`
	App         *app.Payload  `json:"app"`
	Pulls       []pullPayload `json:"pull_requests"`
}

type output struct {
	Title          *string `json:"title"`
	Summary        *string `json:"summary"`
	Text           *string `json:"text"`
	Annotations    int64   `json:"annotations_count"`
	AnnotationsURL string  `json:"annotations_url"`
}

type suiteID struct {
	ID int64 `json:"id"`
}

// SuitePayload is GitHub's check-suite.
type SuitePayload struct {
	ID         int64         `json:"id"`
	NodeID     string        `json:"node_id"`
	Branch     *string       `json:"head_branch"`
	SHA        git.SHA       `json:"head_sha"`
	Status     string        `json:"status"`
	Conclusion *string       `json:"conclusion"`
	URL        string        `json:"url"`
	Before     *string       `json:"before"`
	After      git.SHA       `json:"after"`
	Pulls      []pullPayload `json:"pull_requests"`
	App        *app.Payload  `json:"app"`
	Repository *repo.Payload `json:"repository,omitempty"`
	CreatedAt  db.Time       `json:"created_at"`
	UpdatedAt  db.Time       `json:"updated_at"`
	Commit     *commit       `json:"head_commit,omitempty"`
	Runs       int64         `json:"latest_check_runs_count"`
	RunsURL    string        `json:"check_runs_url"`
}

// commit is GitHub's simple-commit.
type commit struct {
	ID        git.SHA `json:"id"`
	Tree      git.SHA `json:"tree_id"`
	Message   string  `json:"message"`
	Timestamp string  `json:"timestamp"`
	Author    *person `json:"author"`
	Committer *person `json:"committer"`
}

type person struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

// pullPayload is GitHub's pull-request-minimal.
type pullPayload struct {
	URL    string `json:"url"`
	ID     int64  `json:"id"`
	Number int64  `json:"number"`
	Head   side   `json:"head"`
	Base   side   `json:"base"`
}

type side struct {
	Ref  string   `json:"ref"`
	SHA  string   `json:"sha"`
	Repo repoName `json:"repo"`
}

type repoName struct {
	ID   repo.ID `json:"id"`
	URL  string  `json:"url"`
	Name string  `json:"name"`
}

// AnnotationPayload is GitHub's check-annotation.
type AnnotationPayload struct {
	Path        string  `json:"path"`
	BlobHref    string  `json:"blob_href"`
	StartLine   int64   `json:"start_line"`
	EndLine     int64   `json:"end_line"`
	StartColumn *int64  `json:"start_column"`
	EndColumn   *int64  `json:"end_column"`
	Level       string  `json:"annotation_level"`
	Title       *string `json:"title"`
	Message     string  `json:"message"`
	RawDetails  *string `json:"raw_details"`
}

// view holds the data that the payloads of one commit's runs and suites share.
type view struct {
	a     *repo.Access
	info  *web.Info
	at    *issuekit.Addresses
	apps  map[account.AppID]*app.App
	pulls []pullPayload
}

// look loads the Apps and pull requests that the payloads of a commit's runs or suites show.
func (s *Service) look(
	ctx context.Context, tx *db.Tx, a *repo.Access, sha git.SHA, apps []account.AppID,
) (*view, error) {
	info := web.From(ctx)
	v := &view{a: a, info: info, at: issuekit.NewAddresses(info, a.Repo)}
	var err error
	if v.apps, err = s.apps.Find(tx, db.Unique(apps)...); err != nil {
		return nil, err
	}
	rows, err := pullsOf(tx, a.ID, sha)
	v.pulls = make([]pullPayload, len(rows))
	for n, p := range rows {
		here := repoName{a.ID, v.at.API, a.Name}
		v.pulls[n] = pullPayload{URL: v.at.API + "/pulls/" + strconv.FormatInt(p.number, 10), ID: p.id, Number: p.number,
			Head: side{p.headRef, string(sha), here}, Base: side{p.baseRef, p.baseSHA, here}}
	}
	return v, err
}

func (v *view) app(id account.AppID) *app.Payload {
	if a := v.apps[id]; a != nil {
		return app.JSON(a, v.info)
	}
	return nil
}

func (v *view) run(r *Run) *Payload {
	id := strconv.FormatInt(r.ID, 10)
	p := &Payload{ID: r.ID, Name: r.Name, NodeID: account.NodeID(Resource, r.ID), SHA: r.SHA,
		ExternalID: r.ExternalID,
		URL:        v.at.API + "/check-runs/" + id, HTMLURL: v.at.Page + "/runs/" + id, Status: r.Status.String(),
		Conclusion: web.OrNil(r.Conclusion.String()), StartedAt: r.StartedAt, CompletedAt: r.CompletedAt,
		Suite: suiteID{r.SuiteID}, SuiteID: r.SuiteID, App: v.app(r.AppID), Pulls: v.pulls}
	p.Output = output{r.Title, r.Summary, r.Text, r.Annotations, p.URL + "/annotations"}
	switch a := v.apps[r.AppID]; {
	case r.DetailsURL != nil && *r.DetailsURL != "":
		p.DetailsURL = *r.DetailsURL
	case a != nil:
		p.DetailsURL = a.ExternalURL
	default:
		p.DetailsURL = p.HTMLURL
	}
	return p
}

// suite renders a suite as a webhook shows it inside a run. The API adds repository and commit.
func (v *view) suite(s *Suite) *SuitePayload {
	self := v.at.API + "/check-suites/" + strconv.FormatInt(s.ID, 10)
	return &SuitePayload{ID: s.ID, NodeID: account.NodeID(SuiteResource, s.ID), Branch: s.Branch, SHA: s.SHA,
		Status: s.Status.String(), Conclusion: web.OrNil(s.Conclusion.String()), URL: self, Before: s.Before,
		After: s.SHA,
		Pulls: v.pulls, App: v.app(s.AppID), CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt, Runs: s.Runs,
		RunsURL: self + "/check-runs"}
}

func (v *view) annotation(sha git.SHA, a *Annotation) *AnnotationPayload {
	return &AnnotationPayload{Path: a.Path, BlobHref: v.at.Page + "/blob/" +
		string(sha) + web.Path(strings.Split(a.Path, "/")...),
		StartLine: a.StartLine, EndLine: a.EndLine, StartColumn: a.StartColumn, EndColumn: a.EndColumn,
		Level: a.Level.String(), Title: a.Title, Message: a.Message, RawDetails: a.RawDetails}
}

// head reads the commit of a suite. If the commit is missing or not visible to the caller, the result has
// only its SHA.
func (s *Service) head(ctx context.Context, a *repo.Access, sha git.SHA, since db.Time) (*commit, error) {
	err := s.repos.CheckNamed(ctx, a, sha)
	var c *git.Commit
	if err == nil {
		c, err = s.commit(ctx, a, sha)
	}
	if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Invalid) {
		return &commit{ID: sha, Tree: git.EmptyTree, Timestamp: since.Time().UTC().Format(time.RFC3339)}, nil
	}
	if err != nil {
		return nil, err
	}
	return &commit{ID: sha, Tree: c.Tree, Message: strings.TrimRight(c.Message, "\n"),
		Timestamp: c.Committer.When.Format(time.RFC3339), Author: &person{c.Author.Name, c.Author.Email},
		Committer: &person{c.Committer.Name, c.Committer.Email}}, nil
}

package graphql

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/issue/branch"
	"arbor/internal/web"
)

// linkedBranches are the branches that were made for an issue.
func linkedBranches() exec.Resolver {
	return linked{kind: "LinkedBranchConnection", path: "issues",
		node: func(_ *object, raw json.RawMessage) (any, error) {
			data, err := members(raw)
			return newLinkedBranch(data), err
		},
		handler: func(q *query) web.Handler { return q.with.LinkedBranches },
		more:    func(*exec.Field) url.Values { return url.Values{"of": {"branches"}} }}.resolve
}

func newLinkedBranch(data payload) *object {
	return &object{kind: "LinkedBranch", data: data, whole: true}
}

func linkedBranchFields() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"id": same("node_id"),
		"ref": one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
			owner, name, _ := strings.Cut(textOf(o.data, "repo"), "/")
			in := repositoryAt(web.Path("repos", owner, name))
			at := in.source.Path + "/git/ref/" + escapeRef(strings.TrimPrefix(textOf(o.data, "ref"), "refs/"))
			data := payload{}.with("ref", o.data.get("ref")).with("object", o.data.get("object"))
			return &object{kind: "Ref", data: data, repo: in, source: source{Path: at}}, nil
		}),
	}
}

// linkedBranch finds a link, and its issue.
func (q *query) linkedBranch(ctx context.Context, nodeID string, id int64) (link, of *object, err error) {
	at, err := placed(ctx, q, "LinkedBranch"+decimal(id), func(tx *db.Tx) (spot, error) {
		in, number, err := branch.Place(tx, id)
		return spot{in, []string{"issues", decimal(number)}}, err
	})
	if err != nil {
		return nil, nil, err
	}
	in, err := q.repositoryByID(ctx, at.repo)
	if err != nil {
		return nil, nil, err
	}
	number := at.path[1]
	found, err := q.object(ctx, Question{Path: in.path("issues"), Handler: q.with.LinkedBranches,
		Query: url.Values{"of": {"branches"}, "numbers": {number}}})
	if err != nil {
		return nil, nil, err
	}
	list, err := objectsIn(found.get(number))
	n := slices.IndexFunc(list, func(data payload) bool { return textOf(data, "node_id") == nodeID })
	if err == nil && n < 0 {
		err = errs.Absent()
	}
	if err != nil {
		return nil, nil, err
	}
	return newLinkedBranch(list[n]), issueAt(in, number), nil
}

func createLinkedBranch(ctx context.Context, m *mutation) (map[string]any, error) {
	of, err := m.target(ctx, "issueId", "Issue")
	if err != nil {
		return nil, err
	}
	to := of.repo
	if m.given("repositoryId") {
		if to, err = m.target(ctx, "repositoryId", "Repository"); err != nil {
			return nil, err
		}
	}
	owner, name, _ := strings.Cut(of.repo.text(ctx, "full_name"), "/")
	body := map[string]any{"owner": owner, "repo": name, "number": of.data.get("number"),
		"sha": m.text("oid")}
	m.copy(body, "name", "name")
	data, err := m.changeBy(ctx, Question{Method: http.MethodPost, Path: to.path("git", "refs"),
		Handler: m.with.LinkBranch}, body)
	if err != nil {
		return nil, err
	}
	return map[string]any{"issue": of, "linkedBranch": newLinkedBranch(data)}, nil
}

func deleteLinkedBranch(ctx context.Context, m *mutation) (map[string]any, error) {
	nodeID := m.text("linkedBranchId")
	kind, id, _, ok := parseNode(nodeID)
	if !ok || kind != "LinkedBranch" {
		return nil, unresolvedNode(nodeID)
	}
	_, of, err := m.linkedBranch(ctx, nodeID, id)
	if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Gone) {
		err = unresolvedNode(nodeID)
	}
	if err != nil {
		return nil, err
	}
	_, err = m.changeBy(ctx, Question{Method: http.MethodPatch, Path: of.source.Path,
		Handler: m.with.UnlinkBranch}, map[string]any{"id": id})
	return map[string]any{"issue": of}, err
}

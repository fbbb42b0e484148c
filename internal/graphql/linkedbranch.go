package graphql

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/issue/branch"
	"arbor/internal/web"
)

// branchesOf loads the branches that were made for issues.
func branchesOf(q *query) loader[int64, []*branch.Payload] {
	return loader[int64, []*branch.Payload]{name: "branches", route: "/issues", key: byNumber,
		read: q.load.Branches.Linked,
		size: func(list []*branch.Payload) int64 { return int64(len(list)) * nodeBytes }}
}

// linkedBranches are the branches that were made for an issue.
func linkedBranches(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	return branchesOf(queryOf(ctx)).values(ctx, parents, func(_ *object, list []*branch.Payload) (any, error) {
		all := make([]any, len(list))
		for n, l := range list {
			data, err := payloadOf(l)
			if err != nil {
				return nil, err
			}
			all[n] = newLinkedBranch(data)
		}
		return connectAll(f, "LinkedBranchConnection", all)
	})
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
	of = issueAt(in, at.path[1])
	list, err := branchesOf(q).get(ctx, q, of)
	n := slices.IndexFunc(list, func(l *branch.Payload) bool { return l.NodeID == nodeID })
	if err == nil && n < 0 {
		err = errs.Absent()
	}
	if err != nil {
		return nil, nil, err
	}
	data, err := payloadOf(list[n])
	return newLinkedBranch(data), of, err
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

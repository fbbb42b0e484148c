package graphql

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/graphql/exec"
	"arbor/internal/issue/branch"
	"arbor/internal/repo"
)

// branchesOf loads the branches that were made for issues.
func branchesOf(q *query) loader[int64, []*branch.Payload] {
	return loader[int64, []*branch.Payload]{name: "branches", route: "/issues", key: byNumber,
		check: issuesEnabled, read: q.load.Branches.Linked}
}

// linkedBranches are the branches that were made for an issue.
func linkedBranches(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	return branchesOf(queryOf(ctx)).values(ctx, parents, func(_ *object, list []*branch.Payload) (any, error) {
		all := make([]any, len(list))
		for n, l := range list {
			all[n] = newLinkedBranch(l)
		}
		return connectAll(f, "LinkedBranchConnection", all)
	})
}

func newLinkedBranch(l *branch.Payload) *object {
	return &object{kind: "LinkedBranch", value: l, whole: true}
}

// contents asks whether the caller may read the branches of an object's repository.
var contents = loader[string, bool]{name: "contents", route: "/branches", key: noKey,
	read: func(context.Context, []repo.Of[string]) (map[repo.Of[string]]bool, error) { return nil, nil }}

func linkedBranchFields() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"id": pick(func(l *branch.Payload) any { return l.NodeID }),
		"ref": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			l := o.value.(*branch.Payload)
			in := repositoryAt(l.Repo)
			// A token may see the issue and not the code.
			if _, err := contents.get(ctx, queryOf(ctx), &object{repo: in}); errs.Is(err, errs.Forbidden) ||
				errs.Is(err, errs.NotFound) {
				return nil, nil
			} else if err != nil {
				return nil, err
			}
			return refAt(in, l.Ref), nil
		}),
	}
}

// linked is a link and its issue.
type linked struct{ link, of *object }

// linkedByID finds links. It omits those that the caller cannot see.
func (q *query) linkedByID(ctx context.Context, ids []int64) (map[int64]linked, error) {
	spots := map[int64]spot{}
	err := q.do.DB.Read(ctx, func(tx *db.Tx) error {
		list, err := branch.Places(tx, db.Unique(ids))
		for id, at := range list {
			spots[id] = spot{repo: at.Repo, number: at.Number}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	repos, err := q.repositoriesOf(ctx, spots)
	if err != nil {
		return nil, err
	}
	found, issues := map[int64]linked{}, []*object{}
	for id, at := range spots {
		if in := repos[int64(at.repo)]; in != nil {
			found[id] = linked{of: issueAt(in, at.number, "raw")}
			issues = append(issues, found[id].of)
		}
	}
	branchesOf(q).load(ctx, q, issues)
	for id, at := range found {
		list, err := branchesOf(q).get(ctx, q, at.of)
		if err != nil {
			return nil, err
		}
		delete(found, id)
		for _, l := range list {
			if l.NodeID == account.NodeID("LinkedBranch", id) {
				found[id] = linked{newLinkedBranch(l), at.of}
			}
		}
	}
	return found, nil
}

func (q *query) findLinkedBranches(ctx context.Context, ids []nodeID) []lookup {
	links, err := q.linkedByID(ctx, numbersOf(ids))
	if err != nil {
		return failures(err, len(ids))
	}
	found := make([]lookup, len(ids))
	for n, id := range ids {
		if at, there := links[id.number]; there {
			found[n].value = at.link
		}
	}
	return found
}

func createLinkedBranch(ctx context.Context, m *mutation) (map[string]any, error) {
	of, err := m.target(ctx, "issueId", "Issue")
	if err != nil {
		return nil, err
	}
	in := of.repo
	if m.given("repositoryId") {
		if in, err = m.target(ctx, "repositoryId", "Repository"); err != nil {
			return nil, err
		}
	}
	if err := m.identify(ctx, of.repo); err != nil {
		return nil, err
	}
	to, a, err := m.change(ctx, in, "POST /repos/{owner}/{repo}/git/refs")
	if err != nil {
		return nil, err
	}
	sha, err := git.ParseSHA(m.text("oid"))
	if err != nil {
		return nil, err
	}
	home, err := m.accessTo(to, a.Caller, of.repo)
	if err != nil {
		return nil, err
	}
	made, err := m.do.Branches.Create(to, home, byNumber(of), a, m.text("name"), sha)
	if err != nil {
		return nil, err
	}
	return map[string]any{"issue": of, "linkedBranch": newLinkedBranch(branch.NewPayload(made, a, sha))}, nil
}

func deleteLinkedBranch(ctx context.Context, m *mutation) (map[string]any, error) {
	nodeID := m.text("linkedBranchId")
	kind, id, _, ok := parseNode(nodeID)
	if !ok || kind != "LinkedBranch" {
		return nil, unresolvedNode(nodeID)
	}
	links, err := m.linkedByID(ctx, []int64{id})
	of := links[id].of
	if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Gone) || err == nil && of == nil {
		err = unresolvedNode(nodeID)
	}
	if err != nil {
		return nil, err
	}
	to, a, err := m.change(ctx, of.repo, editIssue)
	if err == nil {
		err = m.do.Branches.Remove(to, a, byNumber(of), id)
	}
	return map[string]any{"issue": of}, err
}

package graphql

import (
	"context"
	"net/http"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
)

func createRef(ctx context.Context, m *mutation) (map[string]any, error) {
	in, err := m.target(ctx, "repositoryId", "Repository")
	if err != nil {
		return nil, err
	}
	body := map[string]any{"ref": m.text("name"), "sha": m.text("oid")}
	data, err := m.change(ctx, http.MethodPost, in.path("git", "refs"), body)
	if err != nil {
		return nil, err
	}
	return refPayload(in, data), nil
}

func refPayload(in *object, data payload) map[string]any {
	return map[string]any{"ref": &object{kind: "Ref", data: data, whole: true, repo: in}}
}

// refPath is where REST changes a ref.
func refPath(o *object) string {
	return o.repo.source.Path + "/git/refs/" + escapeRef(strings.TrimPrefix(textOf(o.data, "ref"), "refs/"))
}

func updateRef(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "refId", "Ref")
	if err != nil {
		return nil, err
	}
	body := map[string]any{"sha": m.text("oid"), "force": m.input["force"] == true}
	data, err := m.change(ctx, http.MethodPatch, refPath(o), body)
	if err != nil {
		return nil, err
	}
	return refPayload(o.repo, data), nil
}

func deleteRef(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "refId", "Ref")
	if err != nil {
		return nil, err
	}
	_, err = m.change(ctx, http.MethodDelete, refPath(o), nil)
	return map[string]any{}, err
}

// mergeBranch merges a branch or a commit into a branch.
func mergeBranch(ctx context.Context, m *mutation) (map[string]any, error) {
	in, err := m.target(ctx, "repositoryId", "Repository")
	if err != nil {
		return nil, err
	}
	if m.given("authorEmail") {
		return nil, refused("A merge is authored with the e-mail address of who makes it.")
	}
	body := map[string]any{"base": m.text("base"), "head": m.text("head")}
	m.copy(body, "commitMessage", "commit_message")
	data, err := m.change(ctx, http.MethodPost, in.path("merges"), body)
	if err != nil {
		return nil, err
	}
	if data == nil {
		return nil, refused("Already merged")
	}
	made, err := listedCommit(in, data)
	return map[string]any{"mergeCommit": made}, err
}

// createCommitOnBranch adds, changes and deletes files with one commit, if the branch is at the expected
// commit.
func createCommitOnBranch(ctx context.Context, m *mutation) (map[string]any, error) {
	in, name, err := m.branch(ctx)
	if err != nil {
		return nil, err
	}
	message, _ := m.input["message"].(map[string]any)
	text, _ := message["headline"].(string)
	if more, _ := message["body"].(string); more != "" {
		text += "\n\n" + more
	}
	files, _ := m.input["fileChanges"].(map[string]any)
	body := map[string]any{"message": text, "branch": name, "expectedHeadOid": m.text("expectedHeadOid"),
		"additions": files["additions"], "deletions": files["deletions"]}
	question := Question{Method: http.MethodPost, Path: in.path("git", "commits"),
		Handler: m.with.CommitFiles}
	data, err := m.changeBy(ctx, question, body)
	if err != nil {
		told := asError(err)
		if e, ok := told.(*exec.Error); ok && errs.Is(err, errs.Conflict) {
			e.Type = "STALE_DATA"
		}
		return nil, told
	}
	refs, err := m.refsNamed(ctx, in, []string{"refs/heads/" + name})
	if err != nil {
		return nil, err
	}
	payload := map[string]any{"commit": gitObject(in, "commit", textOf(data, "sha")), "ref": nil}
	if ref := refs["refs/heads/"+name]; ref != nil {
		payload["ref"] = &object{kind: "Ref", data: ref, whole: true, repo: in}
	}
	return payload, nil
}

// branch finds the branch that is to be committed to, by its id or by names.
func (m *mutation) branch(ctx context.Context) (in *object, name string, err error) {
	given, _ := m.input["branch"].(map[string]any)
	id, _ := given["id"].(string)
	at, _ := given["repositoryNameWithOwner"].(string)
	name, _ = given["branchName"].(string)
	owner, of, whole := strings.Cut(at, "/")
	switch {
	case id != "" && (at != "" || name != ""), id == "" && (!whole || name == ""):
		return nil, "", refused("A branch is named by its id, or by repositoryNameWithOwner and branchName.")
	case id == "":
		in, err = m.repository(ctx, owner, of)
		return in, strings.TrimPrefix(name, "refs/heads/"),
			orUnresolved(err, "a Repository with the name '"+clip(at)+"'")
	}
	v, err := m.find(ctx, id, "Ref")
	if err != nil {
		return nil, "", err
	}
	ref := v.(*object)
	name, isBranch := strings.CutPrefix(textOf(ref.data, "ref"), "refs/heads/")
	if !isBranch {
		return nil, "", refused("Only a branch can be committed to.")
	}
	return ref.repo, name, nil
}

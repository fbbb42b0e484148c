package graphql

import (
	"context"
	"encoding/json"

	"arbor/internal/graphql/exec"
	"arbor/internal/web"
)

// annotations lists what a check run says of lines.
func annotations(ctx context.Context, _ *exec.Field, o *object) (pages, error) {
	l := loader[int64, *web.List[payload]]{name: "annotations", route: "/check-runs/{check_run_id}/annotations",
		key: byIdentity}
	return pages{kind: "CheckAnnotationConnection", many: lists(l, queryOf(ctx).load.Checks.Annotations),
		count: func() (int, error) {
			output, err := o.inner(ctx, "output")
			number, _ := decode(output.get("annotations_count")).(json.Number)
			n, _ := number.Int64()
			return int(n), err
		},
		node: func(data payload) (any, error) { return newAnnotation(data), nil }}, nil
}

func newAnnotation(data payload) any {
	position := func(line, column string) any {
		return bare{"CheckAnnotationPosition",
			map[string]any{"line": data.get(line), "column": decode(data.get(column))}}
	}
	return bare{"CheckAnnotation",
		map[string]any{"annotationLevel": enumName(textOf(data, "annotation_level")),
			"blobUrl": decode(data.get("blob_href")), "databaseId": nil, // REST does not tell
			"message": decode(data.get("message")), "path": decode(data.get("path")),
			"title":      decode(data.get("title")),
			"rawDetails": decode(data.get("raw_details")),
			"location": bare{"CheckAnnotationSpan", map[string]any{
				"start": position("start_line", "start_column"), "end": position("end_line", "end_column")}}}}
}

// suiteAddress is the page of a suite: that of its commit's checks.
func suiteAddress(ctx context.Context, o *object) (string, error) {
	sha := o.text(ctx, "head_sha")
	at, err := o.repo.value(ctx, "html_url")
	page, _ := at.(string)
	return page + "/commit/" + sha + "/checks?check_suite_id=" + string(o.data.get("id")), err
}

package graphql

import (
	"context"

	"arbor/internal/checkrun"
	"arbor/internal/graphql/exec"
	"arbor/internal/web"
)

// annotations lists what a check run says of lines.
func annotations(ctx context.Context, _ *exec.Field, o *object) (pages[*checkrun.AnnotationPayload], error) {
	l := loader[int64, *web.List[*checkrun.AnnotationPayload]]{name: "annotations",
		route: "/check-runs/{check_run_id}/annotations", key: byID}
	return pages[*checkrun.AnnotationPayload]{kind: "CheckAnnotationConnection",
		many:  lists(l, queryOf(ctx).load.Checks.Annotations),
		count: func() (int, error) { return int(o.value.(*checkrun.Payload).Output.Annotations), nil },
		node:  newAnnotation}, nil
}

func newAnnotation(a *checkrun.AnnotationPayload) (any, error) {
	position := func(line int64, column *int64) any {
		return bare{"CheckAnnotationPosition", map[string]any{"line": line, "column": column}}
	}
	return bare{"CheckAnnotation",
		map[string]any{"annotationLevel": enumName(a.Level), "blobUrl": a.BlobHref, "databaseId": nil, // REST does not tell
			"message": a.Message, "path": a.Path, "title": a.Title, "rawDetails": a.RawDetails,
			"location": bare{"CheckAnnotationSpan", map[string]any{
				"start": position(a.StartLine, a.StartColumn), "end": position(a.EndLine, a.EndColumn)}}}}, nil
}

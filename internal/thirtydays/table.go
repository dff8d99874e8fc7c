package thirtydays

import (
	"fmt"
	"strings"
)

// Table writes rows as a table of Markdown.
func Table(rows []Row) string {
	var out strings.Builder
	out.WriteString("| arrangement | closed | of which never-written | mean delay | unseen | missed | wrongly reverted | left | held | reported | commit to live |\n")
	out.WriteString("|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&out, "| %s | %d | %d | %.0f | %d | %d | %d | %d | %d | %d | %s |\n", r.Arrangement.Name(), r.Closed, r.NeverWritten, r.MeanDelay,
			r.Unseen, r.Missed, r.WronglyReverted, r.Left, r.Held, r.Reported, minutes(r.Live))
	}
	return out.String()
}

// minutes are written as the model does, with a fraction where there is one.
func minutes(n float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", n), ".0") }

// OutageTable writes what happened while the pipeline was out.
func OutageTable(rows []Row) string {
	var out strings.Builder
	out.WriteString("| arrangement | rounds | deployments missed | changes open | of which closed |\n|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&out, "| %s | %d | %d | %d | %d |\n", r.Arrangement.Name(), r.Outage.Rounds, r.Outage.Missed, r.Outage.Open, r.Outage.Closed)
	}
	return out.String()
}

package thirtydays

import "fmt"

// published are the model's rows by the agents' period, 0 for the pipeline: see [columns].
var published = map[int]string{
	0: "26 0 1206 16 6 4 18",
	1: "49 17 1 5 6 9 6", 5: "49 17 3 5 6 9 6", 15: "48 17 8 6 6 9 6", 60: "42 14 30 12 6 8 6", 240: "39 12 135 15 6 7 6",
}

// columns are a row's as they were published: closed, of which never-written, mean delay,
// unseen, missed, wrongly reverted and left.
func columns(r Row) string {
	return fmt.Sprintf("%d %d %.0f %d %d %d %d", r.Closed, r.NeverWritten, r.MeanDelay, r.Unseen, r.Missed, r.WronglyReverted, r.Left)
}

// Compare returns an error if a row differs from what was published of it. Nothing was of
// other periods, and of Towline's own means.
func (r Row) Compare() error {
	want, known := published[r.Arrangement.Period]
	if got := columns(r); known && !r.Arrangement.Means && got != want {
		return fmt.Errorf("%s: the replay gives %s, and %s was published", r.Arrangement.Name(), got, want)
	}
	return nil
}

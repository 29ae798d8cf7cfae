package plan

// Object is a part of a plan with fixed keys: the plan, a thread group, a load …
// The parser's check of unknown keys, the schema and the reference read this one
// list. What samplers, timers, assertions and extractors accept is told by their
// own definitions.
type Object struct {
	Name string
	Doc  string // a sentence
	Keys []Key
	// Includes names objects whose keys stand here too.
	Includes []string
	// Exactly names the group of which one key must be given.
	Exactly string
}

// Key is one key of an Object.
//
// Type is a word for a value (text, name, path, int, number, bool, duration, rate,
// condition, value, …), the name of an Object, `[X]` for a list of X, `{X}` for a
// map from names to X (`{X+Y}` for X or Y), or several of these with ` | ` between
// them.
type Key struct {
	Name, Type, Doc string
	Default         string // as written in a plan, or what it is equal to, in words
	Required        bool
	Enum            []string
	Role            string // of a step's key: action, control or modifier
	Group           string // of the keys of a group at most one is given
	Needs           string // a key that must stand beside it
	Literal         bool   // ${…} may not stand in it
}

// Grammar returns the structure of a plan, outermost first.
func Grammar() []Object {
	return []Object{planObject(), secretObject(), environmentObject(), dataObject(), reportsObject(), scopeObject(), groupObject(),
		loadObject(), threadStageObject(), rateStageObject(), stepObject(), choiceObject(), assertionObject(), extractObject(), thresholdObject()}
}

// KeysOf returns the keys of an object in order, those it includes last.
func KeysOf(name string) []string {
	objects := map[string]Object{}
	for _, o := range Grammar() {
		objects[o.Name] = o
	}
	var keys []string
	for _, part := range append([]string{name}, objects[name].Includes...) {
		for _, k := range objects[part].Keys {
			keys = append(keys, k.Name)
		}
	}
	return keys
}

var onErrors = []string{string(Continue), string(NextIteration), string(StopThread), string(StopGroup), string(StopPlan)}

func planObject() Object {
	return Object{Name: "plan", Doc: "The whole file.", Includes: []string{"scope"}, Keys: []Key{
		{Name: "plan", Type: "text", Literal: true, Required: true, Doc: "title of the plan; it heads every report"},
		{Name: "description", Type: "text", Literal: true, Doc: "what the plan is for"},
		{Name: "tags", Type: "[name]", Literal: true, Doc: "words to find the plan by"},
		{Name: "vars", Type: "{value}", Doc: "variables that all of the plan can use; `--var name=value` replaces one for one run. Only here `${env.NAME}` may be read"},
		{Name: "secrets", Type: "{secret}", Doc: "values from the environment or a file that are never shown, used as `${secrets.name}`"},
		{Name: "environments", Type: "{environment}", Doc: "named sets of other vars and secrets, chosen with `--env name`"},
		{Name: "data", Type: "{path+data}", Doc: "CSV files; a column is used as `${name.column}`"},
		{Name: "setup", Type: "[step]", Doc: "steps that run once before the load; what they extract is known to the whole plan. If one fails, nothing else is sent"},
		{Name: "setup_timeout", Type: "duration", Literal: true, Default: "60s", Doc: "limit for all of setup"},
		{Name: "thread_groups", Type: "{group}", Required: true, Doc: "the thread groups; they run at the same time unless their load says `after` or `delay`"},
		{Name: "teardown", Type: "[step]", Doc: "steps that run once after the load, whatever happened"},
		{Name: "teardown_timeout", Type: "duration", Literal: true, Default: "60s", Doc: "limit for all of teardown"},
		{Name: "reports", Type: "reports", Doc: "where to put copies of the reports"},
	}}
}

func secretObject() Object {
	return Object{Name: "secret", Doc: "A value that is never shown: exactly one of its keys.", Exactly: "source", Keys: []Key{
		{Name: "env", Type: "text", Literal: true, Group: "source", Doc: "environment variable that holds the value"},
		{Name: "file", Type: "path", Literal: true, Group: "source", Doc: "file that holds the value; a line break at its end is left out"},
	}}
}

func environmentObject() Object {
	return Object{Name: "environment", Doc: "What `--env name` replaces.", Keys: []Key{
		{Name: "vars", Type: "{value}", Doc: "variables with their values in this environment"},
		{Name: "secrets", Type: "{secret}", Doc: "secrets with their sources in this environment"},
	}}
}

func dataObject() Object {
	return Object{Name: "data", Doc: "A CSV file that feeds rows to the threads. The short form is the file name.", Keys: []Key{
		{Name: "file", Type: "path", Literal: true, Required: true, Doc: "CSV file in UTF-8, relative to this file; its first line names the columns"},
		{Name: "pick", Type: "name", Enum: []string{"next", "random", "shuffled", "unique"}, Default: "next", Doc: "which row is handed out: the next, a random one, the next of a shuffled order, or each row at most once in the run"},
		{Name: "per", Type: "name", Enum: []string{"iteration", "thread"}, Default: "iteration; thread with `pick: unique`", Doc: "when a new row is handed out"},
		{Name: "share", Type: "name", Enum: []string{"plan", "group", "thread"}, Default: "plan", Doc: "who draws from the same sequence of rows"},
		{Name: "on_end", Type: "name", Enum: []string{"recycle", "stop_thread", "fail"}, Default: "recycle; fail with `pick: unique`", Doc: "what happens when there are no more rows"},
		{Name: "types", Type: "{column}", Doc: "type of a column that is not text: int, float, bool or json"},
		{Name: "delimiter", Type: "text", Literal: true, Default: ",", Doc: "character between the columns"},
		{Name: "columns", Type: "[name]", Literal: true, Doc: "names of the columns, if the file has no header line"},
		{Name: "skip_lines", Type: "int", Literal: true, Default: "0", Doc: "lines to skip at the start of the file"},
	}}
}

func reportsObject() Object {
	return Object{Name: "reports", Doc: "Copies of reports, besides those in the results folder. Paths are relative to this file.", Keys: []Key{
		{Name: "html", Type: "path", Literal: true, Doc: "the report for people, one file"},
		{Name: "junit", Type: "path", Literal: true, Doc: "the verdict for CI, as JUnit XML"},
		{Name: "xlsx", Type: "path", Literal: true, Doc: "the figures as a workbook"},
		{Name: "json", Type: "path", Literal: true, Doc: "every figure, for scripts"},
		{Name: "markdown", Type: "path", Literal: true, Doc: "the summary that a CI shows"},
	}}
}

func scopeObject() Object {
	return Object{Name: "scope", Doc: "What may stand on the plan, a thread group, a block or one step, and applies to every sampler below.", Keys: []Key{
		{Name: "defaults", Type: "defaults", Doc: "values for all samplers of a kind below; the nearest value wins, maps such as headers merge by key"},
		{Name: "timers", Type: "[timer]", Doc: "waits before every sampler below; all in scope apply, outermost first"},
		{Name: "extract", Type: "{condition+extract}", Doc: "variables taken from the response of every sampler below: an expression, or an extractor"},
		{Name: "assertions", Type: "[assertion]", Doc: "what must hold for the response of every sampler below; they add up"},
		{Name: "thresholds", Type: "[threshold]", Doc: "limits for the figures of everything below; a broken one fails the run"},
		{Name: "no_inherit", Type: "[name]", Enum: []string{"timers", "extract", "assertions"}, Doc: "what outer scopes do not hand down to here"},
	}}
}

func groupObject() Object {
	return Object{Name: "group", Doc: "A thread group: each of its threads works through the steps, again and again, until the load is over.", Includes: []string{"scope"}, Keys: []Key{
		{Name: "load", Type: "load", Required: true, Doc: "how many threads or arrivals, and for how long"},
		{Name: "steps", Type: "[step]", Required: true, Doc: "one iteration, from the first step to the last"},
		{Name: "on_error", Type: "name", Enum: onErrors, Default: "continue", Doc: "what follows a failed sample"},
		{Name: "pacing", Type: "duration | range | rate", Doc: "time from the start of one iteration to the start of the next, or iterations per thread as a rate"},
		{Name: "new_user_each_iteration", Type: "bool", Literal: true, Default: "false with threads, true with rate", Doc: "each iteration begins without cookies and without the variables of the one before"},
		{Name: "vars", Type: "{value}", Doc: "variables of each thread, evaluated once at its start"},
		{Name: "if", Type: "condition", Doc: "the group runs only if this is true, judged once at the start of the run"},
		{Name: "skip", Type: "text", Literal: true, Doc: "the reason why the group is left out"},
	}}
}

func loadObject() Object {
	return Object{Name: "load", Doc: "With `threads` the model is closed: so many threads, each in a loop. With `rate` it is open: so many iterations begin per second, however slow the answers are.", Exactly: "model", Keys: []Key{
		{Name: "threads", Type: "int | [thread_stage]", Group: "model", Doc: "number of threads, or stages over time"},
		{Name: "rate", Type: "rate | [rate_stage]", Group: "model", Needs: "max_threads", Doc: "iterations that begin per second, minute or hour, or stages over time"},
		{Name: "ramp_up", Type: "duration", Default: "0s", Needs: "threads", Doc: "time over which the threads start, evenly"},
		{Name: "duration", Type: "duration", Doc: "how long iterations begin, ramp-up included"},
		{Name: "iterations", Type: "int", Group: "end", Doc: "iterations of each thread; with `rate` of all together"},
		{Name: "shared_iterations", Type: "int", Needs: "threads", Group: "end", Doc: "iterations of all threads together"},
		{Name: "max_threads", Type: "int", Needs: "rate", Doc: "most threads that work at once; an arrival that finds none free is dropped"},
		{Name: "arrivals", Type: "name", Needs: "rate", Enum: []string{"even", "poisson"}, Default: "even", Doc: "even gaps, or random ones as of independent people"},
		{Name: "delay", Type: "duration", Default: "0s", Doc: "wait before the group begins"},
		{Name: "after", Type: "name", Literal: true, Doc: "thread group that must have ended first"},
		{Name: "warm_up", Type: "duration", Default: "0s", Doc: "time at the start whose samples are left out of the figures"},
		{Name: "grace", Type: "duration", Default: "30s", Doc: "how long running iterations may take to finish at the end"},
		{Name: "ramp_down_grace", Type: "duration", Default: "the same as grace", Doc: "how long a thread may take to finish when a stage lowers the number of threads"},
	}}
}

func stageKeys(amount, what string) []Key {
	return []Key{
		{Name: "to", Type: amount, Group: "form", Needs: "over", Doc: what + " at the end of the stage, reached evenly"},
		{Name: "over", Type: "duration", Needs: "to", Doc: "how long the change takes"},
		{Name: "hold", Type: "duration", Group: "form", Doc: "stay as it is for this long"},
		{Name: "at", Type: amount, Group: "form", Needs: "for", Doc: what + " from the start of the stage, at once"},
		{Name: "for", Type: "duration", Needs: "at", Doc: "how long it stays so"},
	}
}

func threadStageObject() Object {
	return Object{Name: "thread_stage", Doc: "One part of a load over time: `{to, over}` changes evenly, `{hold}` stays, `{at, for}` jumps and stays.", Exactly: "form", Keys: stageKeys("int", "number of threads")}
}

func rateStageObject() Object {
	return Object{Name: "rate_stage", Doc: "One part of a load over time: `{to, over}` changes evenly, `{hold}` stays, `{at, for}` jumps and stays.", Exactly: "form", Keys: stageKeys("rate", "rate")}
}

func stepObject() Object {
	return Object{Name: "step", Doc: "Exactly one action (a sampler, `pause`, `set`, `log`, `stop`) or one block (`steps`, `choose`), with controls and modifiers beside it.", Includes: []string{"scope"}, Exactly: "action", Keys: []Key{
		{Name: "pause", Type: "duration | range", Role: "action", Group: "action", Doc: "waits, for a fixed or a random time"},
		{Name: "set", Type: "{value}", Role: "action", Group: "action", Doc: "gives variables new values, in order"},
		{Name: "log", Type: "text", Role: "action", Group: "action", Doc: "writes a line to the log of the run"},
		{Name: "stop", Type: "name", Role: "action", Group: "action", Enum: []string{"iteration", "thread", "group", "plan"}, Doc: "ends the iteration, the thread, the thread group or the whole run"},
		{Name: "steps", Type: "[step]", Role: "action", Group: "action", Doc: "a block of steps; with a `name` it is a transaction with a row of its own"},
		{Name: "choose", Type: "[choice]", Role: "action", Group: "action", Doc: "one of several blocks on each pass, by weight"},

		{Name: "if", Type: "condition", Role: "control", Doc: "runs only if this is true"},
		{Name: "else", Type: "[step]", Role: "control", Needs: "if", Doc: "steps to run if the condition is false"},
		{Name: "once", Type: "bool", Literal: true, Role: "control", Doc: "runs in the first iteration of each thread only"},
		{Name: "loop", Type: "int", Role: "control", Group: "repeat", Doc: "runs so many times"},
		{Name: "while", Type: "condition", Role: "control", Group: "repeat", Doc: "runs again as long as this is true"},
		{Name: "max", Type: "int", Role: "control", Needs: "while", Doc: "most passes of `while`"},
		{Name: "foreach", Type: "condition", Role: "control", Group: "repeat", Needs: "as", Doc: "runs once for each item of this list"},
		{Name: "as", Type: "name", Literal: true, Role: "control", Needs: "foreach", Doc: "variable that holds the item of `foreach`"},

		{Name: "name", Type: "text", Role: "modifier", Doc: "name of the row in the reports; steps of a group with the same name share a row"},
		{Name: "tags", Type: "[name]", Literal: true, Role: "modifier", Doc: "words to find the step by"},
		{Name: "skip", Type: "text", Literal: true, Role: "modifier", Doc: "the reason why the step is left out"},
		{Name: "on_error", Type: "name", Role: "modifier", Enum: onErrors, Doc: "what follows a failed sample of this step or block"},
		{Name: "include_timers", Type: "bool", Literal: true, Role: "modifier", Default: "false", Doc: "of a named block: timers and pauses count in the time of the transaction"},
	}}
}

func choiceObject() Object {
	return Object{Name: "choice", Doc: "One of the blocks of `choose`.", Keys: []Key{
		{Name: "weight", Type: "number", Required: true, Doc: "how often, relative to the others: weights 70 and 30 are 7 and 3 passes of 10"},
		{Name: "name", Type: "text", Literal: true, Doc: "makes the block a transaction with a row of its own"},
		{Name: "steps", Type: "[step]", Required: true, Doc: "the steps of the block"},
	}}
}

func assertionObject() Object {
	return Object{Name: "assertion", Doc: "An expression that must be true, or one of the assertions below. Besides the assertion itself:", Exactly: "assertion", Keys: []Key{
		{Name: "that", Type: "condition", Group: "assertion", Doc: "expression that must be true"},
		{Name: "name", Type: "text", Literal: true, Doc: "name of the assertion in the reports"},
		{Name: "message", Type: "text", Literal: true, Doc: "what to report when it does not hold"},
		{Name: "on_failure", Type: "name", Enum: onErrors, Doc: "what follows when it does not hold, instead of `on_error`"},
	}}
}

func extractObject() Object {
	return Object{Name: "extract", Doc: "An expression such as `json.items[0].id`, or one of the extractors below. Besides the extractor itself:", Keys: []Key{
		{Name: "match", Type: "match", Default: "1", Doc: "which of several matches: a number from 1, `random`, or `all` as a list"},
		{Name: "default", Type: "value", Doc: "value if nothing is found; without it the sample fails"},
		{Name: "of", Type: "of", Default: "body", Doc: "where to look: a part of the response, or the text of a variable"},
		{Name: "secret", Type: "bool", Literal: true, Default: "false", Doc: "the value is never shown"},
	}}
}

func thresholdObject() Object {
	return Object{Name: "threshold", Doc: "A comparison of a figure with a constant, such as `p95 < 500ms`. The long form says more about when it is judged.", Keys: []Key{
		{Name: "that", Type: "condition", Required: true, Doc: "the comparison"},
		{Name: "tag", Type: "name", Literal: true, Doc: "judge only the samples of steps with this tag"},
		{Name: "after", Type: "duration", Literal: true, Default: "0s", Doc: "not judged before this time of the run"},
		{Name: "window", Type: "duration", Literal: true, Doc: "judged over the last so many seconds, again and again, instead of over the whole run"},
		{Name: "for", Type: "duration", Literal: true, Default: "0s", Doc: "must be broken for this long"},
		{Name: "stop", Type: "bool", Literal: true, Default: "false", Doc: "end the run as soon as it is broken"},
	}}
}

package plan

import "slices"

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
	Needs           string // a key that must stand beside it; "a | b": one of two
	Literal         bool   // ${…} may not stand in it
}

// Grammar returns the structure of a plan, outermost first.
func Grammar() []Object {
	return []Object{planObject(), secretObject(), environmentObject(), dataObject(), counterObject(), fragmentObject(), reportsObject(), scopeObject(), groupObject(),
		loadObject(), threadStageObject(), rateStageObject(), stepObject(), choiceObject(), switchObject(), percentObject(), assertionObject(), extractObject(), thresholdObject()}
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
		{Name: "counters", Type: "{counter}", Doc: "numbers that advance once per iteration, used as `${name}`"},
		{Name: "include", Type: "{path}", Literal: true, Doc: "library files whose fragments can be called as `alias.name`, relative to this file"},
		{Name: "fragments", Type: "{fragment}", Doc: "lists of steps that `call` runs, each with a name"},
		{Name: "metrics", Type: "{metric}", Literal: true, Doc: "figures of the plan's own, fed by `record`: a counter, gauge, rate or trend"},
		{Name: "setup", Type: "[step]", Doc: "steps that run once before the load; what they extract is known to the whole plan. If one fails, nothing else is sent"},
		{Name: "setup_timeout", Type: "duration", Literal: true, Default: "60s", Doc: "limit for all of setup"},
		{Name: "thread_groups", Type: "{group}", Required: true, Doc: "the thread groups; they run at the same time unless their load says `after` or `delay`"},
		{Name: "teardown", Type: "[step]", Doc: "steps that run once after the load, whatever happened"},
		{Name: "teardown_timeout", Type: "duration", Literal: true, Default: "60s", Doc: "limit for all of teardown"},
		{Name: "reports", Type: "reports", Doc: "where to put copies of the reports"},
		{Name: "keep_failures", Type: "int", Literal: true, Default: "0", Doc: "how many failed responses to save, with what was asked, headers and body, in the folder `failures` of the results"},
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

func counterObject() Object {
	return Object{Name: "counter", Doc: "A number that advances once per iteration of the groups that use it. All steps of one iteration see the same number.", Keys: []Key{
		{Name: "from", Type: "int", Required: true, Doc: "the first number"},
		{Name: "to", Type: "int", Doc: "the last number, after which it begins again; without it there is no end"},
		{Name: "step", Type: "int", Default: "1", Doc: "what is added each time; negative to count down"},
		{Name: "per", Type: "name", Enum: []string{"plan", "thread"}, Default: "plan", Doc: "one sequence for all threads, or one for each"},
		{Name: "format", Type: "text", Literal: true, Doc: "makes it a text: its one run of zeros stands for the number with at least so many digits, as in `order-00000`"},
	}}
}

func fragmentObject() Object {
	return Object{Name: "fragment", Doc: "Steps that `call` runs. Inside, only its params and what its own steps set are known, beside `thread.id`, `thread.iteration`, `group.name` and `run.id`. Values that scopes around the call hand down keep their own names.", Keys: []Key{
		{Name: "params", Type: "[name]", Literal: true, Doc: "names that every call gives a value"},
		{Name: "outputs", Type: "[name]", Literal: true, Doc: "variables that a call can take with `extract: [name]`"},
		{Name: "steps", Type: "[step]", Required: true, Doc: "the steps; what scopes around the call say applies to them too"},
	}}
}

func switchObject() Object {
	return Object{Name: "switch", Doc: "One of several lists of steps, by a value that is compared as text. If no case has it and there is no default, nothing runs.", Keys: []Key{
		{Name: "on", Type: "condition", Required: true, Doc: "expression that gives the value"},
		{Name: "cases", Type: "{[step]}", Required: true, Doc: "for each value its steps"},
		{Name: "default", Type: "[step]", Doc: "steps for all other values"},
	}}
}

func percentObject() Object {
	return Object{Name: "percent", Doc: "On which share of its passes a step runs, counted for each thread. The share is kept exactly, unless `random` draws it.", Keys: []Key{
		{Name: "value", Type: "share", Required: true, Doc: "share of the passes"},
		{Name: "random", Type: "bool", Literal: true, Default: "false", Doc: "draw for each pass, instead of keeping the share exactly"},
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
		{Name: "extract", Type: "{condition+extract} | [name]", Doc: "variables taken from the response of every sampler below: an expression, or an extractor; beside `call` a list of outputs"},
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
		{Name: "pacing", Type: "duration | range | rate", Doc: "time from the start of one iteration to the start of the next, or iterations per thread as a rate; the beat is kept from the start of the thread: after a long iteration the next ones start at once until it is caught up, and how late they are counts in the response time of their first sample"},
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
		{Name: "warm_up", Type: "duration", Default: "0s", Doc: "time at the start whose samples are left out of the figures; dropped arrivals count from the start"},
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
	return Object{Name: "step", Doc: "Exactly one action (a sampler, `pause`, `set`, `log`, `next_row`, `stop`) or one block (`steps`, `call`, `choose`, `random`, `interleave`, `shuffle`, `switch`, `try`), with controls and modifiers beside it. Controls apply in the order `skip`, `if`, `once`, `percent`, one of `loop`, `while`, `foreach`, `until`, then `runtime`, `critical_section`.", Includes: []string{"scope"}, Exactly: "action",
		Keys: slices.Concat(actionKeys(), controlKeys(), untilKeys(), modifierKeys())}
}

func actionKeys() []Key {
	return []Key{
		{Name: "pause", Type: "duration | range", Role: "action", Group: "action", Doc: "waits, for a fixed or a random time"},
		{Name: "set", Type: "{value}", Role: "action", Group: "action", Doc: "gives variables new values, in order"},
		{Name: "log", Type: "text", Role: "action", Group: "action", Doc: "writes a line to the log of the run"},
		{Name: "next_row", Type: "name", Literal: true, Role: "action", Group: "action", Doc: "takes the next row of this data set within the iteration, as one with `per: iteration` does at its start"},
		{Name: "stop", Type: "name", Role: "action", Group: "action", Enum: []string{"iteration", "thread", "group", "plan"}, Doc: "ends the iteration, the thread, the thread group or the whole run"},
		{Name: "steps", Type: "[step]", Role: "action", Group: "action", Doc: "a block of steps; with a `name` it is a transaction with a row of its own"},
		{Name: "call", Type: "name", Literal: true, Role: "action", Group: "action", Doc: "runs a fragment of this plan, or `alias.name` of a library; with `extract: [name, …]` it takes outputs"},
		{Name: "choose", Type: "[choice]", Role: "action", Group: "action", Doc: "one of several blocks on each pass, by weight"},
		{Name: "random", Type: "[step]", Role: "action", Group: "action", Doc: "one of the steps on each pass, drawn at random"},
		{Name: "interleave", Type: "[step]", Role: "action", Group: "action", Doc: "one of the steps on each pass, in turn, from the first"},
		{Name: "shuffle", Type: "[step]", Role: "action", Group: "action", Doc: "all of the steps, in a new random order on each pass"},
		{Name: "switch", Type: "switch", Role: "action", Group: "action", Doc: "the steps of one case, by a value"},
		{Name: "try", Type: "[step]", Role: "action", Group: "action", Doc: "steps after which `finally` runs, whatever happens in them"},
	}
}

func controlKeys() []Key {
	return []Key{
		{Name: "with", Type: "{value}", Role: "control", Needs: "call", Doc: "values of the params of the fragment"},
		{Name: "finally", Type: "[step]", Role: "control", Needs: "try", Doc: "steps that run after those of `try`, also when a step, `on_error` or the end of the load stops these; not when samples are cancelled"},
		{Name: "if", Type: "condition", Role: "control", Doc: "runs only if this is true"},
		{Name: "else", Type: "[step]", Role: "control", Needs: "if", Doc: "steps to run if the condition is false"},
		{Name: "once", Type: "bool", Literal: true, Role: "control", Doc: "runs in the first iteration of each thread only"},
		{Name: "percent", Type: "share | percent", Role: "control", Doc: "runs on this share of its passes: 50% of 10 iterations of a thread is exactly 5"},
		{Name: "loop", Type: "int", Role: "control", Group: "repeat", Doc: "runs so many times"},
		{Name: "while", Type: "condition", Role: "control", Group: "repeat", Doc: "runs again as long as this is true"},
		{Name: "foreach", Type: "condition", Role: "control", Group: "repeat", Needs: "as", Doc: "runs once for each item of this list"},
		{Name: "as", Type: "name", Literal: true, Role: "control", Needs: "foreach", Doc: "variable that holds the item of `foreach`"},
		{Name: "max", Type: "int", Role: "control", Needs: "while | until", Doc: "most passes of `while`, or most tries of `until`"},
		{Name: "runtime", Type: "duration", Role: "control", Doc: "of a block: runs it again and again for this long; no step of it begins later"},
		{Name: "critical_section", Type: "name", Literal: true, Role: "control", Doc: "of a block: only one thread of the run at a time is in blocks with this name"},
		{Name: "parallel", Type: "bool", Literal: true, Role: "control", Default: "false", Doc: "of a block: its steps run at once, each with connections of its own; what they set is known after it"},
	}
}

func untilKeys() []Key {
	return []Key{
		{Name: "until", Type: "condition", Role: "control", Group: "repeat", Needs: "every", Doc: "tries again until this is true; it may look at the response. Of a sampler all tries are one sample: its times and assertions are those of the last try, its requests those of all. `attempt` is the number of the try, from 1"},
		{Name: "every", Type: "duration | range", Role: "control", Needs: "until", Doc: "how long to wait between tries"},
		{Name: "within", Type: "duration", Role: "control", Needs: "until", Doc: "no try of `until` begins later than this after the first; one of `max` and `within` is needed"},
		{Name: "on_max", Type: "name", Enum: []string{"fail", "continue"}, Role: "control", Needs: "until", Default: "fail", Doc: "what happens when the last try of `until` is over"},
	}
}

func modifierKeys() []Key {
	return []Key{
		{Name: "name", Type: "text", Role: "modifier", Doc: "name of the row in the reports; steps of a group with the same name share a row"},
		{Name: "tags", Type: "[name]", Literal: true, Role: "modifier", Doc: "words to find the step by, and what is below it; a threshold with `tag` judges them"},
		{Name: "skip", Type: "text", Literal: true, Role: "modifier", Doc: "the reason why the step is left out"},
		{Name: "on_error", Type: "name", Role: "modifier", Enum: onErrors, Doc: "what follows a failed sample of this step or block"},
		{Name: "record", Type: "{condition}", Role: "modifier", Doc: "feeds metrics after the step: for each its expression, which of a sampler may look at the response"},
		{Name: "split_by", Type: "condition", Role: "modifier", Doc: "makes rows of the samplers below by the value of this expression: the first 50 values have one each, all others share `(other)`"},
		{Name: "include_timers", Type: "bool", Literal: true, Role: "modifier", Default: "false", Doc: "of a named block: timers and pauses count in the time of the transaction"},
	}
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
		{Name: "tag", Type: "name", Literal: true, Doc: "judge only the samples of steps with this tag, or in blocks with it"},
		{Name: "after", Type: "duration", Literal: true, Default: "0s", Doc: "not judged before this time of the run; in a run that ends earlier it has no data, or with `stop` is left out"},
		{Name: "window", Type: "duration", Literal: true, Doc: "judged over the last so many seconds, again and again, instead of over the whole run"},
		{Name: "for", Type: "duration", Literal: true, Default: "0s", Doc: "must be broken for this long"},
		{Name: "stop", Type: "bool", Literal: true, Default: "false", Doc: "end the run as soon as it is broken; such a threshold lifts no implied rule, so say beside it how much may pass"},
	}}
}

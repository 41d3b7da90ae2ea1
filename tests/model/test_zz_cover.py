import collections, sys, time
import tests.model.test_stateful as t
seen=collections.Counter(); old=t.Cord.teardown
def teardown(self):
    for r in self.runs:
        s=self.loop.run_until_complete(t.runs.snapshot(self.deps,r,entries=True))
        seen.update(e.event for e in s.entries)
    old(self)
t.Cord.teardown=teardown
def test_x():
    t0=time.perf_counter(),time.process_time(); t.test_no_order_of_events_breaks_a_promise_C017_C020_C052(); print(seen, time.perf_counter()-t0[0], time.process_time()-t0[1])

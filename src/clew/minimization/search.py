"""How schedules in any order are tried: ``searching``, with the types of such schedules."""

from __future__ import annotations

from clew.minimization.searching import search
from clew.minimization.trial import Schedule, Target

TrialResult = search.TrialResult[Schedule]
Candidate = search.Candidate[Target, Schedule]
CandidateList = search.CandidateList[Target, Schedule]
Family = search.Family[Target, Schedule]
Success = search.Success[Schedule]
Search = search.Search[Target, Schedule]

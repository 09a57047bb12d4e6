"""Experiments: one question, asked of many sentences."""

from explorer.views.experiments.suites import Suites
from explorer.views.view import Tab

TAB = Tab("experiments", "Experiments", "What holds in many sentences?", {"Test suites": [[Suites]]})

"""Model: what it is made of."""

from explorer.views.model.architecture import Configuration, ModuleTree, Parameters, Summary
from explorer.views.view import Tab

TAB = Tab("model", "Model", "What is it made of?", {"Model": [[Summary], [Parameters, Configuration], [ModuleTree]]})
